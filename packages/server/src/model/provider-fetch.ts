import type { Dispatcher } from 'undici';
import { CONNECT_MS, ERROR_BODY_BYTES, HTTP_SILENCE_MS } from './limits.ts';

/** `fetch` as far as it is used here, so that tests can put their own in its place. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Addresses of this machine, which no proxy could reach. */
const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)/i;

/** The variables that name a proxy, as every tool spells them. */
const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const;

/**
 * undici's own fetch with agents of its own: the fetch of the runtime cuts a body that is silent for 300 s, and an agent of the
 * installed undici does not fit it. A proxy of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`) is used for every address
 * that is not on this machine. undici is loaded on first use, since it costs start-up time.
 */
export function createProviderFetch(env: Readonly<Record<string, string | undefined>>): Fetch {
  let direct: Dispatcher | undefined;
  let proxied: Dispatcher | undefined;
  const hasProxy = PROXIES.some(name => env[name]);
  return async (url, init) => {
    const undici = await import('undici');
    const options = {
      headersTimeout: HTTP_SILENCE_MS,
      bodyTimeout: HTTP_SILENCE_MS,
      connect: { timeout: CONNECT_MS },
    };
    const dispatcher =
      hasProxy && !LOOPBACK.test(url)
        ? (proxied ??= new undici.EnvHttpProxyAgent({
            ...options,
            httpProxy: env['http_proxy'] ?? env['HTTP_PROXY'],
            httpsProxy: env['https_proxy'] ?? env['HTTPS_PROXY'] ?? env['http_proxy'] ?? env['HTTP_PROXY'],
            noProxy: env['no_proxy'] ?? env['NO_PROXY'],
          }))
        : (direct ??= new undici.Agent(options));
    // undici's types differ from the runtime's in name only
    return (await undici.fetch(url, { ...init, dispatcher } as Parameters<
      typeof undici.fetch
    >[1])) as unknown as Response;
  };
}

/** The fetch of this process. */
export const providerFetch: Fetch = createProviderFetch(process.env);

/** The status under which a page in place of an answer is told. */
export const PAGE_STATUS = 421;

/** What is said of a page in place of an answer. */
export function pageText(page: string): string {
  return `A page came in place of an answer, so baseUrl is likely wrong. ${page}`;
}

/** The first bytes of a body as text; the rest is not read. */
export async function readStart(response: Response): Promise<string> {
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
