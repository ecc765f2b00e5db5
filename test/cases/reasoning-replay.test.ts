import { describe, expect, it } from 'vitest';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { ask, connectModel, requestOf, resultsOf, user } from '../support/provider-model.ts';
import { startTrio, TRIO_MODELS } from '../support/provider-trio.ts';

const REFUSED = {
  status: 400,
  body: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'messages.1: Invalid `signature` in `thinking` block' },
  },
};
const HIGH = { parameters: { effort: 'high' } };

describe('what a model thought', () => {
  it('P01: goes back with its signature byte for byte before the call it led to, and the turn goes on', async () => {
    const trio = await startTrio({ anthropic: ['step', 'step', 'text'] });
    const peer = await trio.peer('anthropic').turn('look', {
      requestedModel: { modelId: TRIO_MODELS.anthropic, parameters: [{ id: 'effort', value: 'medium' }] },
    });
    expect([peer.fault, trio.providers['anthropic']?.refusals]).toEqual([undefined, []]);
    expect(peer.text).toBe('Hello, wörld 👋🏽.');
    const sent = trio.providers['anthropic']?.requests.at(-1)?.body;
    expect(sent.thinking).toEqual({ type: 'enabled', budget_tokens: 10_000 });
    const written = sent.messages.filter(({ role }: { role: string }) => role === 'assistant');
    expect(written).toHaveLength(2);
    for (const { content } of written) {
      expect(content[0]).toEqual({
        type: 'thinking',
        thinking: 'I look at the file.',
        signature: 'EqQBCkgSIGNEDstep==',
      });
      expect(content[1]).toMatchObject({ type: 'tool_use', id: 'toolu_01S', input: { path: 'a.txt' } });
    }
  });

  it('P02: is asked for once more without it when the provider refuses its signature, and then never again', async () => {
    const { model, provider } = await connectModel('anthropic', ['step', REFUSED, 'text']);
    const { message } = await ask(model, requestOf([user('Go.')], HIGH));
    const answer = await ask(model, requestOf([user('Go.'), message, resultsOf(message)], HIGH));
    expect(answer.text).toBe('Hello, wörld 👋🏽.');
    expect(provider.requests.map(({ text }) => text.includes('SIGNED'))).toEqual([false, true, false]);
    expect(provider.refusals).toEqual([]);

    const stubborn = await connectModel('anthropic', ['step', REFUSED]);
    const step = await ask(stubborn.model, requestOf([user('Go.')], HIGH));
    const refused = ask(stubborn.model, requestOf([user('Go.'), step.message, resultsOf(step.message)], HIGH));
    await expect(refused).rejects.toMatchObject({ name_: 'provider_refused_request', retryable: false });
    expect(stubborn.provider.requests).toHaveLength(3);
  });

  it('P02: that another refusal has nothing to do with is not asked again', async () => {
    const body = { error: { type: 'invalid_request_error', message: 'max_tokens: too large' } };
    const { model, provider } = await connectModel('anthropic', [{ status: 400, body }]);
    await expect(ask(model, requestOf([user('Go.')], HIGH))).rejects.toMatchObject({ retryable: false });
    expect(provider.requests).toHaveLength(1);
  });

  it('P02: stays out of requests to any other model, of the same provider too, and out of them when it was cut', async () => {
    const first = await connectModel('anthropic', ['thinking', 'redacted']);
    const history = [user('One.')];
    for (const text of ['Two.', 'Three.'])
      history.push((await ask(first.model, requestOf(history))).message, user(text));
    for (const [type, id] of [
      ['anthropic', 'claude-opus-4-1'],
      ['openai', 'gpt-5'],
      ['google', 'gemini-3-flash'],
      ['bedrock', 'anthropic.claude-opus-4-1'],
      ['openai-compatible', 'some-model'],
    ] as const) {
      const { model, provider } = await connectModel(type, ['text'], { id });
      await ask(model, requestOf(history));
      expect(provider.refusals).toEqual([]);
      expect(provider.requests[0]?.text).not.toMatch(/SIGNED|REDACTED|Let me think/);
      expect(provider.requests[0]?.text).toContain('Done.');
    }
    const thought = { type: 'reasoning', text: 'cut', providerOptions: { tandem: { model: first.model.info.key } } };
    const cut = { role: 'assistant' as const, content: [thought, { type: 'text', text: 'So.' }] };
    await ask(first.model, requestOf([user('One.'), cut, user('Two.')]));
    expect(first.provider.requests.at(-1)?.text).not.toContain('"cut"');
  });

  it.each([
    ['anthropic', ['thinking', 'hidden thinking', 'redacted', 'step', 'parallel', 'tool'], 4],
    ['openai', ['thinking', 'hidden thinking', 'step', 'parallel', 'tool'], 3],
    ['google', ['thinking', 'step', 'parallel', 'with ids', 'tool'], 4],
    ['bedrock', ['thinking', 'redacted', 'step', 'parallel', 'tool'], 3],
    ['openai-compatible', ['thinking', 'step', 'parallel', 'tool'], 0],
  ] as const)('P04: of every kind goes to %s and back without a loss', async (type, answers, kinds) => {
    const { model, provider } = await connectModel(type, [...answers, 'text']);
    const history = [user('Go.')];
    for (let step = 0; step < answers.length; step++) {
      const { message, calls } = await ask(model, requestOf(history, HIGH));
      history.push(message, calls.length > 0 ? resultsOf(message) : user(`Next ${step}.`));
    }
    await ask(model, requestOf(history, HIGH));
    expect(provider.refusals).toEqual([]);
    const last = provider.requests.at(-1)?.text ?? '';
    const sent = provider.requests.map(({ text }) => text).join('');
    const opaque = new Set(sent.match(/[\w=]*(?:SIGNED|REDACTED|gAAAA|UkVEQUNURUQ)[\w=]*/g));
    for (const mark of opaque) expect(last).toContain(mark);
    expect(opaque.size).toBe(kinds);
  });

  it.each([
    ['anthropic', 'claude-sonnet-4-5', /thinking|effort/],
    ['anthropic', 'claude-opus-4-7', /thinking|effort/],
    ['bedrock', 'anthropic.claude-sonnet-4-5', /thinking|effort/],
    ['openai-compatible', 'some-model', /reasoning/],
  ] as const)('P32: is not asked of %s (%s) when nobody chose it', async (type, id, words) => {
    const { model, provider } = await connectModel(type, ['text', 'text'], { id });
    await ask(model, requestOf([user('Go.')]));
    expect(provider.requests[0]?.text).not.toMatch(words);
  });

  it('P32: is shown as it comes, with the time it took', async () => {
    const { model } = await connectModel('anthropic', ['thinking']);
    const { durations, events } = await ask(model, requestOf([user('Go.')], HIGH), 40);
    expect(events.filter(event => event.type === 'reasoning')).toHaveLength(2);
    expect(durations).toEqual([80]);
  });

  it('F82: is never made up: an item without its id, or that nothing follows, does not go to the provider', async () => {
    const { model, provider } = await connectModel('openai', ['text']);
    const options = { tandem: { model: model.info.key } };
    const item = { id: 'rs_last', type: 'reasoning', summary: [], encrypted_content: 'gAAAA' };
    const without = { type: 'reasoning', text: 'no item', providerOptions: options };
    const last = { type: 'redacted-reasoning', data: 'gAAAA', providerOptions: { ...options, openai: { item } } };
    const text = (said: string) => ({ type: 'text', text: said });
    const history = [
      user('One.'),
      { role: 'assistant' as const, content: [without, text('A.')] },
      user('Two.'),
      { role: 'assistant' as const, content: [text('B.'), last] },
      user('Three.'),
    ];
    await ask(model, requestOf(history));
    expect(provider.refusals).toEqual([]);
    expect(provider.requests[0]?.text).not.toMatch(/rs_|"type":"reasoning"|no item/);
  });

  it('F85: leaves the answer a moderate length where the wire wants one and nobody chose it', async () => {
    const longest = async (type: RemoteType, maxOutput?: number) => {
      const { model, provider } = await connectModel(type, ['text'], { longest: 128_000, maxOutput });
      await ask(model, requestOf([user('Go.')]));
      const { max_tokens: asked, inferenceConfig } = provider.requests[0]?.body ?? {};
      return (asked ?? inferenceConfig?.maxTokens) as number | undefined;
    };
    expect([await longest('anthropic'), await longest('bedrock'), await longest('anthropic', 100_000)]).toEqual([
      32_000, 32_000, 100_000,
    ]);
    expect([await longest('openai'), await longest('openai-compatible')]).toEqual([undefined, undefined]);
  });

  it.each(['none', 'off'])('F85: is switched off by %s, in the words of each provider', async effort => {
    const bodies: Record<string, unknown> = {};
    for (const [type, id] of [
      ['anthropic', 'claude-sonnet-4-5'],
      ['anthropic', 'claude-opus-4-7'],
      ['openai', 'gpt-5'],
      ['openai', 'gpt-5.2'],
      ['openai', 'o4-mini'],
      ['google', 'gemini-2.5-flash'],
      ['google', 'gemini-3-flash'],
      ['openrouter', 'vendor/model'],
    ] as const) {
      const { model, provider } = await connectModel(type, ['text'], { id });
      await ask(model, requestOf([user('Go.')], { parameters: { effort } }));
      expect(provider.refusals).toEqual([]);
      const { thinking, output_config: config, reasoning, generationConfig } = provider.requests[0]?.body ?? {};
      bodies[id] = thinking ?? config ?? reasoning ?? generationConfig?.thinkingConfig;
    }
    expect(bodies).toEqual({
      'claude-sonnet-4-5': undefined,
      'claude-opus-4-7': undefined,
      'gpt-5': { effort: 'minimal', summary: 'auto' },
      'gpt-5.2': { effort: 'none' },
      'o4-mini': { effort: 'low', summary: 'auto' },
      'gemini-2.5-flash': { includeThoughts: false, thinkingBudget: 0 },
      'gemini-3-flash': { includeThoughts: false, thinkingLevel: 'minimal' },
      'vendor/model': { enabled: false },
    });
  });
});
