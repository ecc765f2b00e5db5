import { expect, it, onTestFinished } from 'vitest';
import { Peer } from '../support/peer.ts';
import { PLANTED_KEY } from '../support/provider-model.ts';
import type { WireAnswer, WireName } from '../support/provider-wire.ts';
import { readWireAnswers, startWireProvider } from '../support/provider-wire.ts';
import { startTestServer } from '../support/server.ts';
import { closeConnections } from '../support/wire.ts';
import { Workspace } from '../support/workspace.ts';

/** A server with one provider that gives these answers, and a client with one file. */
async function start(type: string, wire: WireName, answers: readonly WireAnswer[]) {
  const provider = await startWireProvider(wire, answers);
  const baseUrl = `${provider.origin}/v1`;
  const server = await startTestServer({
    config: {
      providers: { theirs: { type, baseUrl, apiKey: PLANTED_KEY, models: [{ id: 'some-model' }] } },
      limits: { providerAttempts: 1 },
    },
  });
  onTestFinished(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const workspace = new Workspace();
  workspace.files.set('a.txt', 'the contents of a');
  return { provider, server, peer: new Peer({ url: server.url, model: 'some-model', workspace }) };
}

it.each([
  ['Malformed function call: print(default_api.Read(path=', 'Read', 'JSON'],
  ['Malformed function call: Frobnicate(', 'unnamed_tool', 'Read'],
])(
  '[R57-bad-arguments] a call that Gemini could not write (%s) is told to the model, and the turn goes on',
  async (said, tool, says) => {
    const candidate = (value: object) => ({ candidates: [value] });
    const begins = candidate({ content: { role: 'model', parts: [{ text: 'I look. ' }] } });
    const malformed = candidate({ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: said });
    const { provider, peer } = await start('google', 'gemini', [{ events: [begins, malformed] }, 'text']);
    await peer.turn('look');
    expect([peer.fault, provider.refusals]).toEqual([undefined, []]);
    expect(peer.execs.filter(({ message }) => message.case === 'readArgs')).toEqual([]);
    expect(peer.text).toBe('I look. Hello, wörld 👋🏽.');
    const parts = provider.requests[1]!.body.contents.flatMap((content: { parts: unknown[] }) => content.parts);
    const result = parts.find((part: object) => 'functionResponse' in part).functionResponse;
    expect(result.name).toBe(tool);
    expect(JSON.stringify(result.response)).toContain(says);
  },
);

it('[R58-usage-in-ledger] what Claude told of its input at the beginning is kept of a call that broke off', async () => {
  const whole = readWireAnswers('messages')['text']!;
  const begin = {
    type: 'message_start',
    message: { usage: { input_tokens: 4_321, cache_read_input_tokens: 99, output_tokens: 1 } },
  };
  const cut = [begin, ...whole.slice(1, whole.findIndex(({ type }) => type === 'content_block_delta') + 1)];
  const { server, peer } = await start('anthropic', 'messages', [{ events: cut, then: 'tear' }]);
  await peer.turn('hi');
  expect(peer.fault?.detail).toContain('broke off');
  const { rows } = (await (await fetch(`${server.url}/v1/usage`)).json()) as { rows: object[] };
  expect(rows).toMatchObject([{ calls: 1, inputTokens: 4_321, cacheReadTokens: 99 }]);
});

const json = (value: unknown): WireAnswer => ({ bytes: JSON.stringify(value), type: 'application/json' });

it('[product-provider-gateways] an answer that comes whole in place of a stream is read', async () => {
  const claude = await start('anthropic', 'messages', [
    json({
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: '/repo/a.txt' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 3, output_tokens: 2 },
    }),
    json({ type: 'message', content: [{ type: 'text', text: ' Done.' }], stop_reason: 'end_turn' }),
  ]);
  await claude.peer.turn('look');
  expect([claude.peer.fault, claude.peer.text]).toEqual([undefined, 'I look. Done.']);
  expect(claude.peer.execs.filter(({ message }) => message.case === 'readArgs')).toHaveLength(1);

  const part = (text: string, more: object = {}) => ({ candidates: [{ content: { parts: [{ text }] }, ...more }] });
  const gemini = await start('google', 'gemini', [json([part('in two '), part('pieces', { finishReason: 'STOP' })])]);
  await gemini.peer.turn('hi');
  expect([gemini.peer.fault, gemini.peer.text]).toEqual([undefined, 'in two pieces']);
});
