import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ExecServerMessageSchema } from '@tandem/protocol/agent';
import type { ExecServerMessage } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import { ManualClock } from '../test/clocks.ts';
import { ExecAnswers } from './answer-exec.ts';
import type { AnyExecutor, ExecAnswer } from './executor.ts';
import { limits } from './limits.ts';
import type { ClientBranch } from './uplink.ts';

const readResult = (path: string): ExecAnswer => ({
  case: 'readResult',
  value: {
    $typeName: 'agent.v1.ReadResult',
    result: { case: 'fileNotFound', value: { $typeName: 'agent.v1.ReadFileNotFound', path } },
  },
});
const never = <T>() => new Promise<T>(() => undefined);

function desk(executors: AnyExecutor[]) {
  const clock = new ManualClock();
  const changes = { count: 0 };
  const answers = new ExecAnswers({ executors, clock, onChange: () => changes.count++ });
  const open = () => {
    const sent: ClientBranch[] = [];
    const held = { now: 0 };
    const stream = answers.open({
      send: message => Promise.resolve(void sent.push(message)),
      hold: () => held.now++,
      release: () => held.now--,
    });
    return { stream, sent, held, said: () => sent.map(words) };
  };
  return { clock, answers, changes, open, ...open() };
}

/** A sent message in one word and the exec it belongs to. */
function words(message: ClientBranch): string {
  if (message.case === 'execClientMessage') return `${message.value.message.case} ${message.value.id}`;
  if (message.case !== 'execClientControlMessage') return String(message.case);
  const { message: control } = message.value;
  return control.case === 'throw'
    ? `throw ${control.value.id}: ${control.value.error}`
    : `${control.case} ${control.value?.id}`;
}

const ask = (
  id: number,
  message: MessageInitShape<typeof ExecServerMessageSchema>['message'],
  execId = '',
): ExecServerMessage => create(ExecServerMessageSchema, { id, execId, message: message! });
const read = (id: number, path = 'a') => ask(id, { case: 'readArgs', value: { path, toolCallId: 'call-1' } });
/** Lets everything that is ready run. */
const settle = () => new Promise(resolve => setImmediate(resolve));

it('[§10.1-answer-carries-id] answers with the result and then closes the exec', async () => {
  const { stream, sent, said, held } = desk([
    { kind: 'readArgs', run: args => Promise.resolve(readResult(args.path)) },
  ]);
  stream.ask(ask(0, { case: 'readArgs', value: { path: 'a' } }, 'exec-0'));
  expect(held.now).toBe(1);
  await settle();
  expect(said()).toEqual(['readResult 0', 'streamClose 0']);
  expect(sent[0]).toMatchObject({ value: { execId: 'exec-0', localExecutionTimeMs: 0 } });
  expect(held.now).toBe(0);
});

it('[§11-throw, §22.2-each-exec-answered] throws for a kind it cannot do, for one it does not know, and for an executor that fails', async () => {
  const { stream, said } = desk([{ kind: 'readArgs', run: () => Promise.reject(new Error('disk on fire')) }]);
  stream.ask(ask(1, { case: 'computerUseArgs', value: {} }));
  stream.ask(ask(2, { case: undefined }));
  stream.ask(read(3));
  await settle();
  expect(said()).toEqual([
    'throw 1: this client has no executor for computerUseArgs',
    'streamClose 1',
    'throw 2: this client does not know the kind of exec that was asked for',
    'streamClose 2',
    'throw 3: disk on fire',
    'streamClose 3',
  ]);
});

it('throws for an answer that does not fit, is none, or is no message', async () => {
  const { stream, said } = desk([
    {
      kind: 'readArgs',
      run: () =>
        Promise.resolve({ case: 'lsResult', value: { $typeName: 'agent.v1.LsResult', result: { case: undefined } } }),
    },
    { kind: 'shellStreamArgs', run: async function* () {} },
  ]);
  stream.ask(read(1));
  stream.ask(ask(2, { case: 'shellStreamArgs', value: { command: 'x' } }));
  await settle();
  expect(said()).toEqual([
    'throw 1: lsResult does not answer readArgs',
    'streamClose 1',
    'throw 2: shellStreamArgs gave no answer',
    'streamClose 2',
  ]);
});

it('[S17-same-exec-runs-once] runs the same exec once, and answers as often as it is asked', async () => {
  let runs = 0;
  const { stream, said } = desk([
    {
      kind: 'readArgs',
      run: args => {
        runs++;
        return Promise.resolve(readResult(args.path));
      },
    },
  ]);
  stream.ask(read(5));
  stream.ask(read(5));
  await settle();
  stream.ask(read(5));
  await settle();
  expect(runs).toBe(1);
  expect(said().filter(one => one === 'readResult 5')).toHaveLength(3);
});

it('S17: refuses an id that comes again with another question', async () => {
  const { stream, said } = desk([{ kind: 'readArgs', run: args => Promise.resolve(readResult(args.path)) }]);
  stream.ask(read(5, 'a'));
  stream.ask(read(5, 'b'));
  await settle();
  expect(said()).toContain('throw 5: exec 5 was already used for another readArgs');
});

it('reads again when a new id asks the same: only ids of one stream are remembered for reading', async () => {
  let runs = 0;
  const { stream, open } = desk([{ kind: 'readArgs', run: args => (runs++, Promise.resolve(readResult(args.path))) }]);
  stream.ask(read(1));
  stream.ask(read(2));
  stream.close();
  open().stream.ask(read(1));
  await settle();
  expect(runs).toBe(3);
});

it('[R17-client-exec-heartbeats] says every three seconds that an exec is still running', async () => {
  const { stream, said, clock } = desk([{ kind: 'readArgs', run: () => never() }]);
  stream.ask(read(1));
  clock.pass(9_000);
  await settle();
  expect(said()).toEqual(['heartbeat 1', 'heartbeat 1', 'heartbeat 1']);
});

it("[§18-abort-kills] aborts by the exec's id, and answers for an executor that does not obey", async () => {
  let aborted = false;
  const { stream, said, clock } = desk([
    {
      kind: 'readArgs',
      run: (_args, { signal }) => {
        signal.addEventListener('abort', () => (aborted = true));
        return never();
      },
    },
  ]);
  stream.ask(read(1));
  stream.abort(77);
  expect(aborted).toBe(false);
  stream.abort(1);
  expect(aborted).toBe(true);
  clock.pass(limits.abortGrace);
  await settle();
  expect(said()).toEqual(['throw 1: aborted by the server', 'streamClose 1']);
});

it('X02: answers for an executor that never ends', async () => {
  const { stream, said, clock } = desk([{ kind: 'readArgs', deadlineMs: 1_000, run: () => never() }]);
  stream.ask(read(1));
  clock.pass(1_000 + limits.abortGrace);
  await settle();
  expect(said().at(-2)).toBe('throw 1: readArgs did not finish within 1000 ms');
});

it('counts as a change what ran, not what was refused', async () => {
  const write = (id: number, path: string) => ask(id, { case: 'writeArgs', value: { path, toolCallId: `call-${id}` } });
  const { stream, changes } = desk([
    {
      kind: 'writeArgs',
      run: ({ path }) =>
        Promise.resolve<ExecAnswer>({
          case: 'writeResult',
          value: {
            $typeName: 'agent.v1.WriteResult',
            result:
              path === 'no'
                ? { case: 'rejected', value: { $typeName: 'agent.v1.WriteRejected', path, reason: '' } }
                : { case: 'noSpace', value: { $typeName: 'agent.v1.WriteNoSpace', path } },
          },
        }),
    },
  ]);
  stream.ask(write(1, 'no'));
  await settle();
  expect(changes.count).toBe(0);
  stream.ask(write(2, 'yes'));
  await settle();
  expect(changes.count).toBe(1);
});

it('says nothing more on a stream that is closed', async () => {
  let finish: (answer: ExecAnswer) => void = () => undefined;
  const { stream, sent } = desk([{ kind: 'writeArgs', run: () => new Promise(resolve => (finish = resolve)) }]);
  stream.ask(ask(1, { case: 'writeArgs', value: { path: 'a', toolCallId: 'call-1' } }));
  stream.close();
  finish({ case: 'writeResult', value: { $typeName: 'agent.v1.WriteResult', result: { case: undefined } } });
  await settle();
  expect(sent).toEqual([]);
});

it('stops everything when the run is over', async () => {
  const aborted: unknown[] = [];
  const { stream, answers } = desk([
    {
      kind: 'readArgs',
      run: (_args, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            aborted.push((signal.reason as Error).message);
            reject(signal.reason as Error);
          }),
        ),
    },
  ]);
  stream.ask(read(1));
  stream.ask(read(2));
  await answers.abortAll('cancelled');
  expect(aborted).toEqual(['cancelled', 'cancelled']);
});
