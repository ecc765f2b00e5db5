import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachableBlobs } from '../support/graph.ts';
import { textsOf, toolTexts } from '../support/house.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Peer } from '../support/peer.ts';
import { startProvider, textOfContent } from '../support/provider.ts';
import type { Answer, Provider } from '../support/provider.ts';
import { brokenPrefix } from '../support/sent-messages.ts';
import { startTestServer } from '../support/server.ts';
import { closeConnections, transports } from '../support/wire.ts';
import { Workspace } from '../support/workspace.ts';

const TURNS = 20;
/** Turns after which the server is restarted: once over its store, once over an empty one, so that only the client remembers. */
const RESTARTS = new Map([
  [7, 'kept'],
  [14, 'lost'],
]);
const HOURS = 3_600_000;

/** One tool, two in parallel, or a todo list, by the number of the turn; then an answer in text. */
function answerOf(turn: number): Answer {
  const read = { name: 'Read', args: { path: `file-${turn}.txt` } };
  if (turn % 3 === 0) return { text: 'Both.', calls: [read, { name: 'Shell', args: { command: `make ${turn}` } }] };
  if (turn % 5 === 0)
    return {
      calls: [
        read,
        { name: 'TodoWrite', args: { merge: turn > 5, todos: [{ id: `t${turn}`, content: `todo ${turn}` }] } },
      ],
    };
  return { reasoning: `thinking about ${turn}`, calls: [read] };
}
const toolsOf = (turn: number) => answerOf(turn).calls!.length;

describe.each(transports)('a long conversation over %s', transport => {
  let provider: Provider;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tandem-turns-'));
    provider = await startProvider({
      answers: ({ body }) => {
        const newest = body.messages.findLast(
          ({ role, content }) => role === 'user' && /^turn \d+$/.test(textOfContent(content)),
        )!;
        const turn = Number(textOfContent(newest.content).slice(5));
        return body.messages.at(-1)!.role === 'tool' ? { text: `answer ${turn}` } : answerOf(turn);
      },
    });
  });
  afterAll(async () => {
    closeConnections();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('[done-twenty-turns] keeps its whole history through twenty client processes and two restarts of the server', async () => {
    const clock = new ManualClock();
    let store = join(folder, 'first.db');
    const start = () =>
      startTestServer({ provider: provider.baseUrl, clock, folder, config: { store: { url: `sqlite:${store}` } } });
    let server = await start();
    // what a client has on its disk between its processes: blobs, and the bytes of the last checkpoint
    let kept = { blobs: new Map<string, Uint8Array>(), state: new Uint8Array(0) };
    const conversationId = 'conversation-of-twenty-turns';
    try {
      for (let turn = 1; turn <= TURNS; turn++) {
        const workspace = new Workspace({ [`file-${turn}.txt`]: `text of file ${turn}\n` });
        const peer = new Peer({ url: server.url, transport, conversationId, workspace, blobs: new Map(kept.blobs) });
        await peer.turn(`turn ${turn}`, {
          conversationState: fromBinary(ConversationStateStructureSchema, kept.state),
        });
        expect(peer.fault, `turn ${turn}`).toBeUndefined();
        expect(peer.faults).toEqual([]);
        expect(peer.text.endsWith(`answer ${turn}`)).toBe(true);
        expect(peer.state.turns).toHaveLength(turn);
        kept = { blobs: peer.blobs, state: toBinary(ConversationStateStructureSchema, peer.state) };
        clock.advance(5 * HOURS); // the date changes on the way, and what was said of it before does not
        const restart = RESTARTS.get(turn);
        if (restart === undefined) continue;
        closeConnections();
        await server.close();
        if (restart === 'lost') store = join(folder, 'second.db');
        server = await start();
      }
    } finally {
      closeConnections();
      await server.close();
    }

    const { requests } = provider;
    expect(requests).toHaveLength(2 * TURNS);
    expect(brokenPrefix(requests)).toBeUndefined();
    const last = requests.at(-1)!.body;
    const users = textsOf(last, 'user').filter(text => !text.includes('<workspace>'));
    expect(users).toEqual(Array.from({ length: TURNS }, (_, i) => `turn ${i + 1}`));
    const results = toolTexts(last);
    const turns = Array.from({ length: TURNS }, (_, i) => i + 1);
    expect(results).toHaveLength(turns.reduce((sum, turn) => sum + toolsOf(turn), 0));
    const files = results.flatMap(text => /text of file (\d+)/.exec(text)?.[1] ?? []).map(Number);
    expect(files).toEqual(turns);
    expect(textsOf(last, 'assistant').filter(text => text.startsWith('answer'))).toEqual(
      turns.slice(0, -1).map(turn => `answer ${turn}`),
    );

    const state = fromBinary(ConversationStateStructureSchema, kept.state);
    expect(reachableBlobs(state, kept.blobs).missing).toEqual([]);
    expect(state.todos).toHaveLength(turns.filter(turn => turn % 5 === 0 && turn % 3 !== 0).length);
  });
});
