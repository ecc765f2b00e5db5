import { describe, expect, it, onTestFinished } from 'vitest';
import { Peer } from '../support/peer.ts';
import { PLANTED_KEY } from '../support/provider-model.ts';
import type { WireAnswer, WireProvider } from '../support/provider-wire.ts';
import { readWireAnswers, startWireProvider } from '../support/provider-wire.ts';
import { startTestServer } from '../support/server.ts';
import { closeConnections } from '../support/wire.ts';
import { Workspace } from '../support/workspace.ts';

const DOWN: WireAnswer = { status: 503, body: { error: { message: 'down for a while' } } };
const REFUSES: WireAnswer = { status: 400, body: { error: { message: 'bad request' } } };
const price = (input: number) => ({ input, output: 0 });

/** A server whose model of Claude falls back to GPT and then to Gemini, and a client that asks for Claude. */
async function start(
  claude: readonly WireAnswer[],
  gpt: readonly WireAnswer[],
  gemini: readonly WireAnswer[] = ['text'],
) {
  const providers: Record<'claude' | 'gpt' | 'gemini', WireProvider> = {
    claude: await startWireProvider('messages', claude),
    gpt: await startWireProvider('responses', gpt),
    gemini: await startWireProvider('gemini', gemini),
  };
  const entry = (type: string, name: keyof typeof providers, model: object) => ({
    [name]: { type, baseUrl: `${providers[name].origin}/v1`, apiKey: PLANTED_KEY, models: [model] },
  });
  const server = await startTestServer({
    config: {
      providers: {
        ...entry('anthropic', 'claude', {
          id: 'claude-sonnet-4-5',
          fallback: ['gpt/gpt-5', 'gemini-3-flash'],
          price: price(1),
        }),
        ...entry('openai', 'gpt', { id: 'gpt-5', name: 'GPT-5', price: price(1_000) }),
        ...entry('google', 'gemini', { id: 'gemini-3-flash', name: 'Gemini' }),
      },
      limits: { providerAttempts: 1 },
    },
  });
  onTestFinished(async () => {
    closeConnections();
    await server.close();
    for (const provider of Object.values(providers)) await provider.close();
  });
  const workspace = new Workspace();
  workspace.files.set('a.txt', 'the contents of a');
  return { providers, server, peer: new Peer({ url: server.url, model: 'claude-sonnet-4-5', workspace }) };
}

const counts = ({ claude, gpt, gemini }: Record<'claude' | 'gpt' | 'gemini', WireProvider>) =>
  [claude, gpt, gemini].map(({ requests }) => requests.length);

describe('a model that falls back', () => {
  it('[product-provider-fallback] has another answer in its place, for the rest of the turn, and says so', async () => {
    const { providers, server, peer } = await start([DOWN], ['step', 'text']);
    await peer.turn('look');
    expect([peer.fault, peer.text, providers.gpt.refusals]).toEqual([undefined, 'Hello, wörld 👋🏽.', []]);
    expect(peer.updates('routedModel').map(({ displayName }) => displayName)).toEqual(['GPT-5']);
    expect(peer.order.indexOf('update.routedModel')).toBeLessThan(peer.order.indexOf('update.textDelta'));
    expect(counts(providers)).toEqual([1, 2, 0]);
    // what it thought is its own, and goes back to it
    expect(providers.gpt.requests[1]?.text).toContain('gAAAAstep');
    const line = server.log.find(({ text }) => text === 'another model stands in');
    expect(line?.fields).toMatchObject({ from: 'claude/claude-sonnet-4-5', to: 'gpt/gpt-5' });
    // two calls of 105 tokens at the price of the model that answered
    const ended = server.log.find(({ fields }) => fields['model'] === 'gpt/gpt-5' && fields['cost'] !== undefined);
    expect(ended?.fields['cost']).toEqual({ USD: expect.closeTo(0.21 + 0.04, 5) as unknown });
  });

  it('[product-provider-fallback] goes on down its list, and fails with the last', async () => {
    const through = await start([DOWN], [{ status: 401, body: { error: { message: 'wrong key' } } }]);
    await through.peer.turn('look');
    expect([through.peer.fault, through.peer.text]).toEqual([undefined, 'Hello, wörld 👋🏽.']);
    expect(through.peer.updates('routedModel').map(({ displayName }) => displayName)).toEqual(['GPT-5', 'Gemini']);

    const broken = await start([DOWN], [DOWN], [DOWN]);
    await broken.peer.turn('look');
    expect(JSON.stringify(broken.peer.fault)).toContain('gemini answered 503');
    expect(counts(broken.providers)).toEqual([1, 1, 1]);
  });

  it('[product-provider-fallback] does not when its provider refused the request or had begun to answer', async () => {
    const refused = await start([REFUSES], ['text']);
    await refused.peer.turn('look');
    expect(counts(refused.providers)).toEqual([1, 0, 0]);
    const begun = await start(['failing late'], ['text']);
    await begun.peer.turn('look');
    expect([begun.peer.text, ...counts(begun.providers)]).toEqual(['Half', 1, 0, 0]);
    expect(begun.peer.fault).toBeDefined();

    const limit = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } };
    const events = [...(readWireAnswers('messages')['failing late'] ?? []).slice(0, -1), limit];
    const limited = await start([{ events }], ['text']);
    await limited.peer.turn('look');
    expect([limited.peer.text, ...counts(limited.providers)]).toEqual(['Half', 1, 0, 0]);
  });
});
