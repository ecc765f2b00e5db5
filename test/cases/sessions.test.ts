import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqliteStore } from '../../packages/server/src/store/sqlite/store.ts';
import { eventually } from '../support/eventually.ts';
import { startHouse, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedExec, Peer, PeerOptions } from '../support/peer.ts';
import { ways } from '../support/ways.ts';

/** Rows S of docs/decisions/cases.md, the server's side. The clock stands unless a test moves it. */
let house: House;
beforeAll(async () => {
  house = await startHouse({ standing: true });
});
afterAll(() => house.close());

const shell = { name: 'Shell', args: { command: 'make test' } };
const plainWays = ways.filter(({ secure }) => !secure);

/** Starts a turn and gives the shell that it asks for, unanswered. */
async function untilShell(options: Partial<PeerOptions> = {}): Promise<{ peer: Peer; exec: AskedExec }> {
  const asked = Promise.withResolvers<AskedExec>();
  const peer = house.peer({ on: { shellStreamArgs: exec => asked.resolve(exec) }, ...options });
  await peer.open();
  await peer.run('run it');
  return { peer, exec: await asked.promise };
}

it('S01: a tool that says nothing for as long as it was given is waited for, with heartbeats', async () => {
  house.say({ calls: [{ name: 'Shell', args: { command: 'make test', block_until_ms: 130_000 } }] }, { text: 'done' });
  const { peer, exec } = await untilShell();
  expect(exec.args.timeout).toBe(130_000);
  for (let second = 0; second < 130; second += 5) {
    const had = peer.all('update.heartbeat').length;
    await house.clock.pass(5_000);
    await peer.until(() => peer.all('update.heartbeat').length > had || undefined, `heartbeat after ${second} s`);
  }
  expect(peer.order).not.toContain('control.abort');
  await exec.auto();
  await peer.finish();
  expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
  expect(toolTexts(house.requests[1]!.body)[0]).toContain('make test');
});

it('S04: the stream ends right behind turn_ended, with no timer in between, on every way', async () => {
  for (const { transport, way } of plainWays) {
    house.say({ calls: [shell] }, { text: 'done' });
    const before = house.clock.now();
    const peer = await house.peer({ transport, way }).turn('run it');
    expect(peer.order.slice(-3)).toEqual(['checkpoint', 'update.turnEnded', 'end']);
    expect(await peer.calls.at(-1)!.closed).toEqual({ whole: true });
    expect([peer.fault, house.clock.now()]).toEqual([undefined, before]);
  }
});

it('S06: what cannot be kept after turn_ended is logged, and the end frame says success', async () => {
  const store = openSqliteStore({ file: ':memory:', clock: house.clock });
  const full = new Error('the disk is full');
  const ledger = { ...store.ledger, recordRun: () => Promise.reject(full) };
  const broken = await startHouse({ store: { ...store, ledger } });
  broken.say({ text: 'done' });
  const peer = await broken.peer().turn('hello');
  expect(peer.order.slice(-2)).toEqual(['update.turnEnded', 'end']);
  expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
  const logged = () => broken.server.log.filter(({ level }) => level === 'error');
  await eventually(() => logged().length > 0, 'log line');
  expect(JSON.stringify(logged())).toContain('the disk is full');
  await broken.close();
  await store.close();
});

it('S07: words about an abort in an error of the provider make no cancel of it', async () => {
  house.say({ status: { code: 400, message: 'request aborted by upstream: canceled' } });
  const refused = await house.peer().turn('hello');
  house.say({ events: [{ text: 'half' }, { error: { message: 'The operation was aborted', type: 'server_error' } }] });
  const broken = await house.peer().turn('hello');
  for (const { fault } of [refused, broken]) {
    expect(fault!.detail).toContain('aborted');
    expect(['canceled', 'aborted']).not.toContain(fault!.code);
  }
});

it('S09: a model that stops without a call ends the turn once, and is not asked again', async () => {
  house.say({ text: 'I will now run the tests.' }, { text: 'never said' });
  const peer = await house.peer().turn('run the tests');
  expect([peer.fault, peer.text]).toEqual([undefined, 'I will now run the tests.']);
  expect([peer.all('update.turnEnded').length, house.requests.length]).toEqual([1, 1]);
});

it('S11: the first frame comes before the provider is called and while it says nothing, on every way', async () => {
  for (const { transport, way } of plainWays) {
    house.say({ silent: 'before-headers' });
    const peer = house.peer({ transport, way });
    const before = house.clock.now();
    await peer.open();
    if (way !== 'poll') await peer.wait('update.heartbeat');
    expect(house.requests).toEqual([]);
    await peer.run('hello');
    // a poll is told what there is to tell, which is the first question of the run
    if (way === 'poll') await peer.wait(() => true);
    await house.provider.untilRequests(house.provider.requests.length - house.requests.length + 1);
    expect([house.clock.now(), peer.end]).toEqual([before, undefined]);
    await peer.cancel();
    await peer.finish();
  }
});

it('S14: a new run on a conversation ends the one that waits for a tool, and works', async () => {
  for (const { transport, way } of plainWays) {
    house.say({ calls: [shell] });
    const { peer, exec } = await untilShell({ transport, way });
    house.say({ calls: [shell] }, { text: 'done' });
    const second = await peer.next().turn('something else');
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'failed_precondition', title: 'Superseded', retryable: false });
    expect(peer.all('control.abort')).toHaveLength(1);
    expect([second.fault, second.text, second.faults]).toEqual([undefined, 'done', []]);
    // what the older one still has to say reaches nobody
    if (way !== 'run') expect((await exec.close()).status).toBe(200);
    house.say({ text: 'fine' });
    const third = await second.next().turn('and now?', { conversationState: second.state });
    expect([third.fault, third.text, third.faults]).toEqual([undefined, 'fine', []]);
  }
});

it('S16: a call whose result stands in the history is never asked again, though it is resumed on another server', async () => {
  house.say({ calls: [shell] }, { events: [{ hang: true }] });
  const peer = house.peer();
  await peer.open();
  await peer.run('run it');
  await house.provider.untilRequests(house.provider.requests.length - house.requests.length + 2);
  const { state } = peer.checkpoints.findLast(({ state: { pendingToolCalls } }) => pendingToolCalls.length === 0)!;
  expect(peer.workspace.done).toEqual(['shell make test']);
  const stranger = await startHouse();
  for (const url of [house.server.url, stranger.server.url]) {
    (url === house.server.url ? house : stranger).say({ text: 'done' });
    const again = peer.next({ url });
    await again.open();
    await again.resume(state);
    await again.finish();
    expect([again.fault, again.text]).toEqual([undefined, 'done']);
    expect(again.execs.filter(({ message }) => message.case === 'shellStreamArgs')).toEqual([]);
  }
  expect(peer.workspace.done).toEqual(['shell make test']);
  expect(toolTexts(stranger.requests[0]!.body)).toHaveLength(1);
  await stranger.close();
});

it('S19: an error of the provider is in the end frame at once, on every way', async () => {
  for (const { transport, way } of plainWays) {
    const before = house.clock.now();
    house.say({ status: { code: 400, message: 'no such thing' } });
    const refused = await house.peer({ transport, way }).turn('hello');
    expect(refused.fault!.detail).toContain('no such thing');
    house.say({ events: [{ text: 'half' }, { reset: true }] });
    const cut = await house.peer({ transport, way }).turn('hello');
    expect(cut.fault).toMatchObject({ code: 'unavailable' });
    for (const peer of [refused, cut]) {
      expect([peer.order.at(-1), peer.all('end').length]).toEqual(['end', 1]);
      expect(await peer.calls.at(-1)!.closed).toEqual({ whole: true });
    }
    expect(house.clock.now()).toBe(before);
  }
});
