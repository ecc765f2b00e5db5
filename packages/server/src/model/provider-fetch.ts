import type { Agent } from 'undici';
import { mendChatBody } from './chat-body.ts';
import { CONNECT_MS, ERROR_BODY_BYTES, HTTP_SILENCE_MS } from './limits.ts';

/** `fetch` as far as it is used here, so that tests can put their own in its place. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

let agent: Agent | undefined;

/**
 * undici's own fetch with an agent of its own: the fetch of the runtime cuts a body that is silent for 300 s, and an agent of the
 * installed undici does not fit it. Loaded on first use, since it costs start-up time.
 */
export async function providerFetch(url: string, init: RequestInit): Promise<Response> {
  const undici = await import('undici');
  agent ??= new undici.Agent({
    headersTimeout: HTTP_SILENCE_MS,
    bodyTimeout: HTTP_SILENCE_MS,
    connect: { timeout: CONNECT_MS },
  });
  // undici's types differ from the runtime's in name only
  return (await undici.fetch(url, { ...init, dispatcher: agent } as Parameters<
    typeof undici.fetch
  >[1])) as unknown as Response;
}

/** Signs of life of the calls that are under way, by the signal of the call: all that the provider layer hands through. */
const activity = new WeakMap<AbortSignal, () => void>();

/** Has `call` called for every piece of an answer to a request with this signal. */
export function watchActivity(signal: AbortSignal, call: (() => void) | undefined): void {
  if (call) activity.set(signal, call);
}

/** A fetch for the provider layer whose answers are mended (see {@link mendChatBody}) and whose error bodies are bounded. */
export function createChatFetch(fetch: Fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const url = typeof input === 'object' && 'url' in input ? input.url : input.toString();
    const response = await fetch(url, init ?? {});
    const headers = Object.fromEntries(response.headers);
    const { status, statusText } = response;
    if (!response.ok) return new Response(await readStart(response), { status, statusText, headers });
    if (response.body === null) return new Response(null, { status, statusText, headers });
    const contentType = headers['content-type'] ?? '';
    if (/^text\/html\b/i.test(contentType)) return notAStream(await readStart(response));
    const onBytes = init?.signal ? activity.get(init.signal) : undefined;
    const isStream = !/^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
    delete headers['content-length'];
    delete headers['content-encoding']; // undone by the fetch below us
    return new Response(mendChatBody(response.body, { isStream, onBytes }), { status, statusText, headers });
  };
}

/** A page in place of an answer: the address is another service's, or a portal stands in between. */
function notAStream(page: string): Response {
  return new Response(`A page came in place of an answer, so baseUrl is likely wrong. ${page}`, { status: 421 });
}

/** The first bytes of a body as text; the rest is not read. */
async function readStart(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    while (bytes < ERROR_BODY_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // the connection broke inside the error: its status and what came of its text are the answer
  }
  await reader.cancel().catch(() => undefined); // already broken: nothing is left to release
  return text;
}
