import { afterEach, describe, expect, test } from 'vitest';
import type { Provider, ProviderOptions } from './provider.ts';
import { startProvider } from './provider.ts';
import { recordAnswers } from './provider-recorder.ts';

let provider: Provider;
afterEach(() => provider.close());

const start = async (answers: ProviderOptions['answers']) => (provider = await startProvider({ answers }));
const ask = (text: string, signal?: AbortSignal) =>
  fetch(`${provider.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
    ...(signal && { signal }),
  });

describe('the fake provider', () => {
  test('gives the answers of a file in order and records what was asked', async () => {
    await start('read-then-answer');
    const first = await (await ask('one')).text();
    expect(first).toContain('"reasoning_content":"I look "');
    expect(first).toContain('"finish_reason":"tool_calls"');
    expect(first.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await (await ask('two')).text()).toContain('says hi.');
    expect(provider.requests.map(request => request.body.messages[0]?.content)).toEqual(['one', 'two']);
  });

  test('chooses by the marker in the newest user text', async () => {
    await start([
      { when: '[[B]]', text: 'answer b' },
      { when: '[[A]]', text: 'answer a' },
    ]);
    expect(await (await ask('do [[A]]')).text()).toContain('answer a');
    expect(await (await ask('do [[B]]')).text()).toContain('answer b');
    const response = await ask('do [[A]]');
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('no answer is left for request 2');
  });

  test('holds an answer at its gate until the test opens it', async () => {
    await start([{ events: [{ text: 'before ' }, { gate: 'middle' }, { text: 'after' }] }]);
    const reader = (await ask('x')).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('before ');
    await provider.untilWaiting('middle');
    provider.open('middle');
    let rest = '';
    for (let step = await reader.read(); !step.done; step = await reader.read())
      rest += new TextDecoder().decode(step.value);
    expect(rest).toContain('after');
  });

  test('tells when a caller left before the answer was whole', async () => {
    await start([{ text: 'x', events: [{ hang: true }] }, { text: 'whole' }]);
    const abort = new AbortController();
    const response = await ask('x', abort.signal);
    await response.body!.getReader().read();
    abort.abort();
    expect(await provider.requests[0]!.closed).toEqual({ early: true });
    await (await ask('y')).text();
    expect(await provider.requests[1]!.closed).toEqual({ early: false });
  });

  test('fails as it is told: status, reset, error event', async () => {
    await start([
      { status: { code: 429, headers: { 'retry-after': '3' } } },
      { silent: 'at-once' },
      { text: 'part', events: [{ error: { message: 'broke', type: 'server_error' } }] },
    ]);
    const limited = await ask('x');
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
    await expect(ask('x')).rejects.toThrow('fetch failed');
    expect(await (await ask('x')).text()).toMatch(/part[^]*"error":\{"message":"broke"/);
  });

  test('gives a recorded stream back as it was', async () => {
    await start('parallel-reads');
    const recorder = await recordAnswers({ baseUrl: provider.baseUrl });
    const fake = provider;
    const body = JSON.stringify({ model: 'm', messages: [] });
    const real = await (await fetch(`${recorder.baseUrl}/chat/completions`, { method: 'POST', body })).text();
    await recorder.close();
    await fake.close();
    await start([...recorder.answers]);
    const again = await (await fetch(`${provider.baseUrl}/chat/completions`, { method: 'POST', body })).text();
    expect(again).toBe(real);
  });
});
