import { create, fromBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { fault } from '@tandem/protocol';
import { ExecClientControlMessageSchema, ExecClientMessageSchema } from '@tandem/protocol/agent';
import type { ExecClientMessage } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { RecordedOutbox, StandingClock, recordedLog } from '../../test/recorded-outbox.ts';
import type { ExecRecord, Ledger } from '../store/port.ts';
import { ExecBridge } from './exec.ts';
import type { ExecCall } from './exec.ts';
import { ExecFailure } from './exec-failure.ts';

type Answer = MessageInitShape<typeof ExecClientMessageSchema>['message'];
const content = (value: string): Answer => ({
  case: 'readResult',
  value: { result: { case: 'success', value: { output: { case: 'content', value } } } },
});
const stdout = (data: string): Answer => ({
  case: 'shellStream',
  value: { event: { case: 'stdout', value: { data } } },
});
const exit = (code: number): Answer => ({ case: 'shellStream', value: { event: { case: 'exit', value: { code } } } });

/** A bridge with a ledger in memory, which a second one may go on from. */
function bridge(records: ExecRecord[] = []) {
  const outbox = new RecordedOutbox();
  const clock = new StandingClock();
  const { log, lines } = recordedLog();
  const ledger: Ledger = {
    recordExec: async (_scope, record) => void records.push(record),
    execRecords: async (_scope, _conversation, callId) =>
      records
        .filter(record => record.callId === callId)
        .sort((left, right) => left.step - right.step || left.seqno - right.seqno),
    recordRun: async () => {},
    runs: async () => [],
  };
  const exec = new ExecBridge({
    outbox,
    clock,
    log,
    ledger,
    scope: { owner: 'me' },
    conversationId: 'c',
    requestId: 'r',
  });
  const abort = new AbortController();
  let seqno = 0;
  const message = (id: number, answer: Answer, execId = ''): ExecClientMessage =>
    create(ExecClientMessageSchema, { id, execId, message: answer });
  return {
    outbox,
    clock,
    lines,
    records,
    exec,
    abort,
    hands: (callId = 'call', from: ExecCall['from'] = 'ask') => exec.forCall({ callId, from, signal: abort.signal }),
    /** What the client does with an answer: it is recorded, then delivered. */
    answer: async (id: number, answer: Answer, execId?: string) => {
      const sent = message(id, answer, execId);
      await exec.record(sent, seqno++);
      exec.deliver(sent);
    },
    control: (control: MessageInitShape<typeof ExecClientControlMessageSchema>['message']) =>
      exec.control(create(ExecClientControlMessageSchema, { message: control })),
    asked: () => outbox.of('execServerMessage'),
    aborted: () => outbox.of('execServerControlMessage').map(({ message: { value } }) => value?.id),
    /** Lets what a tool asked come out: the question waits for the reader first. */
    turn: () => new Promise<void>(resolve => setImmediate(resolve)),
  };
}
const failureOf = async (work: Promise<unknown>) => {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ExecFailure);
  return failure as ExecFailure;
};

describe('a question to the client', () => {
  it('has a number and an exec_id, and takes the answer of its number in any order', async () => {
    const house = bridge();
    const { read } = house.hands();
    const both = Promise.all([read({ path: 'a' }), read({ path: 'b' })]);
    await house.turn();
    expect(house.asked().map(({ id, execId, message }) => [id, execId, message.case])).toEqual([
      [1, 'r/1', 'readArgs'],
      [2, 'r/2', 'readArgs'],
    ]);
    await house.answer(2, content('B'));
    await house.answer(1, content('A'), 'r/1');
    expect((await both).map(({ result }) => result.case === 'success' && result.value.output.value)).toEqual([
      'A',
      'B',
    ]);
    expect(house.clock.pending).toBe(0);
  });

  it('does not take an answer with the exec_id of another, and does not record it (R14)', async () => {
    const house = bridge();
    const asked = house.hands().read({ path: 'a' });
    await house.turn();
    await house.answer(1, content('of an older stream'), 'older/1');
    expect([house.records.length, house.lines]).toEqual([
      0,
      [['warn', 'an exec answer to no open question was ignored']],
    ]);
    await house.answer(1, content('mine'));
    expect(await asked).toMatchObject({ result: { value: { output: { value: 'mine' } } } });
  });

  it('is not asked while nobody reads (R19)', async () => {
    const house = bridge();
    house.outbox.detach();
    const asked = house.hands().read({ path: 'a' });
    await house.turn();
    expect(house.asked()).toEqual([]);
    house.outbox.attach();
    await house.turn();
    await house.answer(1, content('A'));
    await asked;
  });

  it.each<[string, Answer, ExecFailure['reason'], RegExp]>([
    [
      'another branch',
      { case: 'writeResult', value: { result: { case: 'success', value: {} } } },
      'mismatch',
      /writeResult to readArgs/,
    ],
    ['an unset result', { case: 'readResult', value: {} }, 'unset', /malformed result for readArgs/],
    ['no branch', { case: undefined }, 'unset', /no content/],
  ])('fails after %s (R28)', async (_what, answer, reason, says) => {
    const house = bridge();
    const asked = failureOf(house.hands().read({ path: 'a' }));
    await house.turn();
    await house.answer(1, answer);
    expect(await asked).toMatchObject({ reason, message: expect.stringMatching(says) as string });
  });

  it.each<[string, ExecFailure['reason']]>([
    ['No handler registered', 'unavailable'],
    ['this is not supported here', 'unavailable'],
    ['EACCES: permission denied', 'thrown'],
    ['', 'thrown'],
  ])('fails after throw %j as %s (R29, R35)', async (error, reason) => {
    const house = bridge();
    const { read } = house.hands();
    const [thrown, other] = [failureOf(read({ path: 'a' })), read({ path: 'b' })];
    await house.turn();
    house.control({ case: 'throw', value: { id: 1, error } });
    expect((await thrown).reason).toBe(reason);
    await house.answer(2, content('B'));
    await other;
  });
});

describe('the deadline of a question', () => {
  it('fails it after a minute without a sign of life, and tells the client (R18)', async () => {
    const house = bridge();
    const asked = failureOf(house.hands().read({ path: 'a' }));
    await house.turn();
    house.clock.advance(59_999);
    expect(house.aborted()).toEqual([]);
    house.clock.advance(1);
    expect((await asked).reason).toBe('expired');
    expect(house.aborted()).toEqual([1]);
    await house.answer(1, content('too late'));
    expect(house.records).toEqual([]);
  });

  it('is renewed by heartbeats of its own exec and by nobody else, up to ten minutes (R17)', async () => {
    const house = bridge();
    const { read } = house.hands();
    const [beating, silent] = [failureOf(read({ path: 'a' })), failureOf(read({ path: 'b' }))];
    await house.turn();
    for (let beat = 0; beat < 12; beat++) {
      house.control({ case: 'heartbeat', value: { id: 1 } });
      house.clock.advance(50_000);
    }
    expect((await silent).reason).toBe('expired');
    expect((await beating).reason).toBe('expired');
    expect(house.aborted()).toEqual([2, 1]);
  });

  it('leaves an MCP tool alone for as long as it beats, up to an hour', async () => {
    const house = bridge();
    const asked = house.hands().mcp({ name: 'slow' });
    await house.turn();
    for (let beat = 0; beat < 60; beat++) {
      house.control({ case: 'heartbeat', value: { id: 1 } });
      house.clock.advance(50_000);
    }
    await house.answer(1, { case: 'mcpResult', value: { result: { case: 'success', value: {} } } });
    expect((await asked).result.case).toBe('success');
  });

  it('is the foreground time and a minute for a command, renewed by its output', async () => {
    const house = bridge();
    const asked = failureOf(house.hands().shellStream({ command: 'make', timeout: 30_000 }, () => {}));
    await house.turn();
    house.clock.advance(89_999);
    await house.answer(1, stdout('.'));
    house.clock.advance(89_999);
    expect(house.aborted()).toEqual([]);
    house.clock.advance(1);
    expect((await asked).reason).toBe('expired');
  });

  it.each<[string, 'readArgs' | 'shellStreamArgs', RegExp]>([
    ['a read', 'readArgs', /without a result/],
    ['a command', 'shellStreamArgs', /exit status is unknown/],
  ])(
    'is two seconds for %s after stream_close, within which a result still counts (R29, R30)',
    async (_what, kind, says) => {
      const house = bridge();
      const hands = house.hands();
      const ask = () =>
        kind === 'readArgs' ? hands.read({ path: 'a' }) : hands.shellStream({ command: 'x', timeout: 1_000 }, () => {});
      const late = ask();
      await house.turn();
      house.control({ case: 'streamClose', value: { id: 1 } });
      house.clock.advance(1_999);
      await house.answer(1, kind === 'readArgs' ? content('A') : exit(0));
      await late;
      const never = failureOf(ask());
      await house.turn();
      house.control({ case: 'streamClose', value: { id: 2 } });
      house.clock.advance(2_000);
      expect(await never).toMatchObject({ reason: 'closed', message: expect.stringMatching(says) as string });
    },
  );
});

describe('the output of a command', () => {
  it('is handed on event by event, and the ending event settles it; later ones are ignored', async () => {
    const house = bridge();
    const seen: unknown[] = [];
    const asked = house.hands().shellStream({ command: 'make' }, event => void seen.push(event.case));
    await house.turn();
    await house.answer(1, { case: 'shellStream', value: { event: { case: 'start', value: {} } } });
    await house.answer(1, stdout('a'));
    await house.answer(1, { case: 'shellStream', value: {} });
    await house.answer(1, exit(3));
    await house.answer(1, stdout('b'));
    await house.answer(1, { case: 'shellResult', value: {} });
    expect(await asked).toMatchObject({ case: 'exit', value: { code: 3 } });
    expect(seen).toEqual(['start', 'stdout', 'exit']);
  });

  it.each(['rejected', 'permissionDenied', 'backgrounded', 'sandboxUnsupported'] as const)(
    'is over with %s',
    async ending => {
      const house = bridge();
      const asked = house.hands().shellStream({ command: 'make' }, () => {});
      await house.turn();
      await house.answer(1, { case: 'shellStream', value: { event: { case: ending, value: {} } } } as Answer);
      expect((await asked).case).toBe(ending);
    },
  );
});

describe('the ledger (R48)', () => {
  const earlier = async () => {
    const house = bridge();
    const { read, shellStream } = house.hands();
    const both = Promise.all([read({ path: 'a' }), shellStream({ command: 'make' }, () => {})]);
    await house.turn();
    await house.answer(1, content('A'));
    await house.answer(2, stdout('made'));
    await house.answer(2, exit(0));
    await both;
    return house.records;
  };

  it('has every answer by call and step before it is delivered, and no answer to nobody', async () => {
    const records = await earlier();
    expect(records.map(({ conversationId, callId, step }) => [conversationId, callId, step])).toEqual([
      ['c', 'call', 0],
      ['c', 'call', 1],
      ['c', 'call', 1],
    ]);
    expect(fromBinary(ExecClientMessageSchema, records[0]!.bytes).message.case).toBe('readResult');
    const house = bridge();
    await house.answer(7, content('for nobody'));
    expect(house.records).toEqual([]);
  });

  it('answers the same questions of a later attempt, events included, and the client is not asked', async () => {
    const house = bridge(await earlier());
    const { read, shellStream } = house.hands('call', 'replay');
    const seen: unknown[] = [];
    expect(await read({ path: 'a' })).toMatchObject({ result: { value: { output: { value: 'A' } } } });
    expect(await shellStream({ command: 'make' }, event => void seen.push(event.value))).toMatchObject({
      case: 'exit',
    });
    expect(seen).toMatchObject([{ data: 'made' }, { code: 0 }]);
    expect(house.outbox.messages).toEqual([]);
  });

  it('does not answer another question, another call, or a step that nobody answered: those go to the client', async () => {
    const house = bridge((await earlier()).slice(0, 2)); // the command had not ended
    const hands = house.hands('call', 'replay');
    const waiting = [
      hands.read({ path: 'changed' }),
      hands.shellStream({ command: 'make' }, () => {}),
      house.hands('other', 'replay').read({ path: 'a' }),
    ];
    await house.turn();
    await house.turn();
    expect(
      house
        .asked()
        .map(({ message }) => message.case)
        .sort(),
    ).toEqual(['readArgs', 'readArgs', 'shellStreamArgs']);
    for (const work of waiting) work.catch(() => {}); // closed below
    house.exec.close(fault('canceled', 'over'));
  });

  it('is all there is for a call that must not run any more', async () => {
    const house = bridge(await earlier());
    expect(await house.hands('call', 'ledger').read({ path: 'a' })).toMatchObject({ result: { case: 'success' } });
    const gone = await failureOf(house.hands('never answered', 'ledger').read({ path: 'a' }));
    expect(gone).toMatchObject({ reason: 'aborted', message: expect.stringMatching(/interrupted/) as string });
    expect(house.outbox.messages).toEqual([]);
  });

  it('keeps the end of a stream whose output is too long for it', async () => {
    const house = bridge();
    const asked = house.hands().shellStream({ command: 'yes' }, () => {});
    await house.turn();
    const piece = 'y'.repeat(1024 * 1024);
    for (let at = 0; at < 6; at++) await house.answer(1, stdout(piece));
    await house.answer(1, exit(0));
    await asked;
    const kept = house.records.map(record => fromBinary(ExecClientMessageSchema, record.bytes).message.value);
    expect(house.records.length).toBeLessThan(6);
    expect(kept.at(-1)).toMatchObject({ event: { case: 'exit' } });
  });
});

describe('the end of a run', () => {
  it('aborts every open exec by number, waits for no answer, and refuses further ones (R33)', async () => {
    const house = bridge();
    const { read, ls } = house.hands();
    const open = [failureOf(read({ path: 'a' })), failureOf(ls({ path: '.' }))];
    await house.turn();
    const over = fault('canceled', 'over');
    house.exec.close(over);
    expect((await Promise.all(open)).map(failure => failure.reason)).toEqual(['aborted', 'aborted']);
    expect(house.aborted()).toEqual([1, 2]);
    await expect(read({ path: 'b' })).rejects.toBe(over);
    expect([house.asked().length, house.clock.pending]).toEqual([2, 0]);
  });

  it('aborts the execs of a call whose signal aborts', async () => {
    const house = bridge();
    const open = failureOf(house.hands().read({ path: 'a' }));
    await house.turn();
    house.abort.abort();
    expect((await open).reason).toBe('aborted');
    expect(house.aborted()).toEqual([1]);
    expect((await failureOf(house.hands().read({ path: 'b' }))).reason).toBe('aborted');
  });
});

describe('the request context (R43)', () => {
  it.each<[string, Answer]>([
    ['an error', { case: 'requestContextResult', value: { result: { case: 'error', value: { error: 'no' } } } }],
    ['an answer of another kind', content('x')],
  ])('is none after %s, and the run goes on', async (_what, answer) => {
    const house = bridge();
    const asked = house.exec.requestContext(house.abort.signal);
    await house.turn();
    await house.answer(1, answer);
    expect(await asked).toBeUndefined();
    expect(house.records).toEqual([]); // no tool asked for it
  });

  it('is none after a minute of silence, and its absence ends no run but a cancelled one', async () => {
    const house = bridge();
    const asked = house.exec.requestContext(house.abort.signal);
    await house.turn();
    house.clock.advance(60_000);
    expect(await asked).toBeUndefined();
    const cancelled = failureOf(house.exec.requestContext(house.abort.signal));
    await house.turn();
    house.abort.abort();
    expect((await cancelled).reason).toBe('aborted');
  });
});
