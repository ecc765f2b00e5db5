import { create } from '@bufbuild/protobuf';
import { decodeAppend } from '@tandem/protocol';
import { ClientHeartbeatSchema } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import { ManualClock } from '../test/clocks.ts';
import { makeConnection } from './connection.ts';
import type { AttemptFailure } from './failure.ts';
import { limits } from './limits.ts';
import type { Transport, TransportAnswer, TransportRequest } from './transport.ts';
import { AppendUplink } from './uplink.ts';

const beat = { case: 'clientHeartbeat' as const, value: create(ClientHeartbeatSchema) };
const settle = () => new Promise(resolve => setImmediate(resolve));
const reply = (status = 200, type = 'application/proto', text = ''): TransportAnswer => ({
  status,
  header: name => (name === 'content-type' ? type : undefined),
  body: (async function* () {
    if (text !== '') yield new TextEncoder().encode(text);
  })(),
});

function make() {
  const open: { request: TransportRequest; answer: (answer: TransportAnswer) => void; fail: (error: Error) => void }[] =
    [];
  const transport: Transport = {
    duplex: false,
    codecs: new Map(),
    exchange: request =>
      new Promise((answer, fail) => {
        open.push({ request, answer, fail });
        request.signal.addEventListener('abort', () => fail(request.signal.reason as Error));
      }),
  };
  const failures: AttemptFailure[] = [];
  const clock = new ManualClock();
  const uplink = new AppendUplink({
    connection: makeConnection({ transport, baseUrl: 'http://server', apiKey: 'k' }),
    requestId: 'r1',
    headers: { 'x-request-id': 'r1' },
    clock,
    onFailure: failure => failures.push(failure),
  });
  return { uplink, open, failures, clock };
}

it('numbers from 0 in the order of the calls, and does not wait for acknowledgements', async () => {
  const { uplink, open } = make();
  for (let count = 0; count < 5; count++) await uplink.send(beat);
  const appends = open.map(({ request }) => decodeAppend(request.body as Uint8Array, { maxBytes: 1_000 }));
  expect(appends.map(append => append.seqno)).toEqual([0n, 1n, 2n, 3n, 4n]);
  expect(appends.map(append => [append.requestId, append.form])).toEqual(
    Array.from({ length: 5 }, () => ['r1', 'hex']),
  );
  expect(open[0]!.request.headers).toMatchObject({
    authorization: 'Bearer k',
    'content-type': 'application/proto',
    'x-request-id': 'r1',
  });
});

it('makes the caller wait while too many are on their way', async () => {
  const { uplink, open } = make();
  for (let count = 1; count < limits.appendsInFlight; count++) await uplink.send(beat);
  let went = false;
  void uplink.send(beat).then(() => (went = true));
  await settle();
  expect(went).toBe(false);
  open[0]!.answer(reply());
  await settle();
  expect(went).toBe(true);
});

it.each([
  [
    'a status',
    (one: ReturnType<typeof make>['open'][0]) =>
      one.answer(reply(503, 'application/json', '{"code":"unavailable","message":"later"}')),
    /later/,
  ],
  [
    'a page with status 200',
    (one: ReturnType<typeof make>['open'][0]) => one.answer(reply(200, 'text/html', '<p>')),
    /text\/html/,
  ],
  [
    'a broken connection',
    (one: ReturnType<typeof make>['open'][0]) => one.fail(new Error('socket hang up')),
    /socket hang up/,
  ],
])('fails once, and sends nothing more, after %s', async (_what, breakIt, words) => {
  const { uplink, open, failures } = make();
  await uplink.send(beat);
  await uplink.send(beat);
  breakIt(open[0]!);
  await settle();
  await uplink.send(beat);
  expect(failures).toHaveLength(1);
  expect(failures[0]!.message).toMatch(words);
  expect(open).toHaveLength(2);
  expect(open[1]!.request.signal.aborted).toBe(true);
});

it('T02: fails when an append is not acknowledged in time', async () => {
  const { uplink, failures, clock } = make();
  await uplink.send(beat);
  clock.pass(limits.appendDeadline - 1);
  await settle();
  expect(failures).toEqual([]);
  clock.pass(10);
  await settle();
  expect(failures[0]!.error).toMatchObject({ code: 'unavailable', title: 'Append not acknowledged' });
});

it('reports nothing for what was on its way when it is closed', async () => {
  const { uplink, failures } = make();
  await uplink.send(beat);
  uplink.close();
  await uplink.flush();
  expect(failures).toEqual([]);
});
