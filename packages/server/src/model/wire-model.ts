import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { connectionWords } from './connection-words.ts';
import type { Model, ModelEvent, ModelInfo, ModelRequest } from './port.ts';
import type { ProviderFacts } from './provider-fault.ts';
import { faultOfAnswer, faultOfEvent, faultOfTransport } from './provider-fault.ts';
import type { Fetch } from './provider-fetch.ts';
import { PAGE_STATUS, pageText, providerFetch, readStart } from './provider-fetch.ts';
import type { Quirks } from './quirks.ts';
import { writeRequestBody } from './request-body.ts';
import type { ServerSentEvent } from './server-sent-events.ts';
import { TextEventDecoder, WholeBodyDecoder } from './wires/event-decoder.ts';
import { brokenStream } from './wires/event-json.ts';
import type { StreamError, Wire } from './wires/wire.ts';

/** What an endpoint of a native wire needs to be called. */
export interface WireModelSettings {
  readonly info: ModelInfo;
  /** Loads the wire; called with the first call. */
  readonly loadWire: () => Promise<Wire>;
  /** Up to the version, without a slash at its end. */
  readonly baseUrl: string;
  /** Headers of every call, the credentials among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** What no error may show. */
  readonly secrets: readonly string[];
  readonly quirks: Quirks;
  /** Adds what each single request is signed with. */
  readonly sign?:
    | ((url: URL, headers: Readonly<Record<string, string>>, body: string | Uint8Array) => Record<string, string>)
    | undefined;
  readonly maxOutput?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly fetch?: Fetch | undefined;
}

/** Words with which providers refuse reasoning that was sent back to them. */
const REASONING_REFUSED =
  /signature|encrypted.?content|reasoning[\W_]{0,3}(?:item|summar|content)|redacted_thinking|thinking.{0,3} block|thought_?signature|\brs_/i;

/** Statuses with which a request is refused for what stands in it. */
const REFUSED = new Set([400, 404, 422]);

/** A model behind a native wire. The wire is loaded with the first call. */
export function createWireModel(settings: WireModelSettings): Model {
  const { info } = settings;
  const { origin, pathname } = new URL(settings.baseUrl);
  const facts: ProviderFacts = {
    name: info.provider,
    address: `${origin}${pathname.replace(/\/$/, '')}`,
    modelId: info.id,
    secrets: settings.secrets,
  };
  return {
    info,
    async *stream(request) {
      request.signal.throwIfAborted();
      const abort = new AbortController();
      const onAbort = () => abort.abort(request.signal.reason);
      request.signal.addEventListener('abort', onAbort, { once: true });
      try {
        const wire = await settings.loadWire();
        const response = await open(wire, { ...request, signal: abort.signal }, settings, facts);
        yield* readAnswer(response, wire, request, facts, info);
      } catch (error) {
        throw request.signal.aborted ? request.signal.reason : error;
      } finally {
        request.signal.removeEventListener('abort', onAbort);
        abort.abort(); // whoever stopped listening no longer wants to pay for the answer
      }
    },
  };
}

/**
 * Sends a call and takes the head of its answer. A provider that refuses the reasoning it is given back is asked once more without it
 * (P02).
 * @throws Fault when the answer is no success.
 */
async function open(
  wire: Wire,
  request: ModelRequest,
  settings: WireModelSettings,
  facts: ProviderFacts,
): Promise<Response> {
  const { info, quirks, maxOutput, fetch = providerFetch, clock = systemClock } = settings;
  for (const withoutReasoning of [false, true]) {
    const body = await writeRequestBody(wire.bodyOf(request, { info, quirks, maxOutput, withoutReasoning }));
    const url = `${settings.baseUrl}${wire.pathOf(info.id)}`;
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json', ...settings.headers };
    let response: Response;
    try {
      response = await fetch(url, {
        method: 'POST',
        headers: settings.sign?.(new URL(url), headers, body) ?? headers,
        body: body as NonNullable<RequestInit['body']>,
        signal: request.signal,
        redirect: 'manual', // a key goes to the address that it was given for
      });
    } catch (error) {
      throw faultOfTransport(error, facts);
    }
    const isPage = /^text\/html\b/i.test(response.headers.get('content-type') ?? '');
    if (response.ok && !isPage) return response;
    const text = await readStart(response);
    if (!withoutReasoning && REFUSED.has(response.status) && REASONING_REFUSED.test(text)) continue;
    const [status, said] = response.ok ? [PAGE_STATUS, pageText(text)] : [response.status, text];
    throw faultOfAnswer({ status, headers: Object.fromEntries(response.headers), body: said }, facts, clock.now());
  }
  throw new Error('unreachable: the second try returns or throws');
}

async function* readAnswer(
  response: Response,
  wire: Wire,
  { onActivity, onUsage, signal }: ModelRequest,
  facts: ProviderFacts,
  info: ModelInfo,
): AsyncGenerator<ModelEvent> {
  const answer = wire.startAnswer(info);
  const isStream = !/^application\/(?:[\w.+-]+\+)?json\b/i.test(response.headers.get('content-type') ?? '');
  const decoder = isStream ? (wire.startDecoder?.() ?? new TextEventDecoder()) : new WholeBodyDecoder();
  const reader = response.body?.getReader();
  for (let isEnd = reader === undefined; !isEnd && !answer.isDone;) {
    let broken: StreamError | undefined;
    let events: ServerSentEvent[] = [];
    try {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      isEnd = done;
      if (!done) onActivity?.();
      events = done ? decoder.finish() : decoder.push(value);
    } catch (error) {
      if (signal.aborted) throw error;
      broken = brokenStream(connectionWords(error));
    }
    for (const event of events) {
      if (answer.isDone) break;
      for (const said of answer.push(event)) {
        if (said.type === 'error') throw faultOfEvent(said.error, facts);
        yield said;
      }
      if (answer.toldUsage) onUsage?.(answer.toldUsage);
    }
    if (broken) throw faultOfEvent(broken.error, facts);
  }
  yield* answer.finish();
}
