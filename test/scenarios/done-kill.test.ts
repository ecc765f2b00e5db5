import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachableBlobs, rootMessages } from '../support/graph.ts';
import { toolTexts } from '../support/house.ts';
import { Peer } from '../support/peer.ts';
import type { AskedExec } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Provider } from '../support/provider.ts';
import { brokenPrefix } from '../support/sent-messages.ts';
import { prepareServerProcess } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { closeConnections, transports } from '../support/wire.ts';

const ROUND = [
  { name: 'Shell', args: { command: 'make once' } },
  { name: 'Write', args: { path: 'new.txt', contents: 'written once\n' } },
  { name: 'Read', args: { path: 'a.txt' } },
];

describe.each(transports)('kill -9 of the server over %s', transport => {
  let provider: Provider;
  let server: ServerProcess;
  beforeAll(async () => {
    provider = await startProvider({
      answers: ({ body }) =>
        body.messages.at(-1)?.role === 'tool' ? { text: 'all three done' } : { text: 'Three things.', calls: ROUND },
    });
    server = await prepareServerProcess(provider.baseUrl);
    await server.start();
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });

  it('[done-kill-mid-round] in a parallel round loses no blob, and a retry finishes the turn without running twice what was acknowledged', async () => {
    const acknowledged: string[] = [];
    const acknowledge = async (exec: AskedExec) => {
      await exec.auto(); // resolves once the append was answered
      acknowledged.push(exec.kind);
    };
    const peer = new Peer({
      url: server.url,
      transport,
      on: {
        shellStreamArgs: acknowledge,
        writeArgs: acknowledge,
        readArgs: exec => (exec.args.path.endsWith('new.txt') ? exec.auto() : undefined),
      },
    });
    await peer.open();
    await peer.run('do three things');
    // the calls of shell and write were answered, the read hangs: the middle of the round
    await peer.until(() => {
      const reads = peer.execs.filter(
        ({ message }) => message.case === 'readArgs' && message.value.path.endsWith('a.txt'),
      );
      return reads.length === 1 && acknowledged.length === 2 ? true : undefined;
    }, 'the middle of the round');
    await server.kill();
    await peer.calls.at(-1)!.closed;
    expect(peer.end).toBeUndefined();
    const last = peer.state;
    expect(last.pendingToolCalls).toHaveLength(1);
    expect(reachableBlobs(last, peer.blobs).missing).toEqual([]);

    closeConnections();
    await server.start();
    const retry = peer.next({ runId: peer.runId, headers: { 'x-original-request-id': peer.requestId } });
    await retry.open();
    await retry.resume(last);
    await retry.finish();
    expect(retry.fault).toBeUndefined();
    expect(retry.text).toBe('all three done');
    expect(retry.workspace.done.filter(one => one === 'shell make once')).toHaveLength(1);
    expect(retry.workspace.done.filter(one => one === 'write new.txt')).toHaveLength(1);
    expect(retry.workspace.done.filter(one => one === 'read a.txt')).toHaveLength(1);
    expect(retry.workspace.files.get('new.txt')).toBe('written once\n');
    const texts = toolTexts(provider.requests.at(-1)!.body);
    expect(texts).toHaveLength(3);
    expect(texts[0]).toContain('make once');
    expect(texts[2]).toContain('hi file');
    expect(provider.requests).toHaveLength(2);
    expect(brokenPrefix(provider.requests)).toBeUndefined();
    expect(reachableBlobs(retry.state, retry.blobs).missing).toEqual([]);
    expect(rootMessages(retry.state, retry.blobs).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(retry.faults).toEqual([]);
  });
});
