import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import type { RemoteProvider } from '../config/config.ts';
import type { ProviderType } from '../config/provider-types.ts';
import { keyHeaders, providerTypeOf } from '../config/provider-types.ts';
import { signAws } from './aws-signature.ts';
import type { Model, ModelInfo } from './port.ts';
import type { Fetch } from './provider-fetch.ts';
import { providerFetch } from './provider-fetch.ts';
import { ProviderGate } from './provider-gate.ts';
import type { Quirks } from './quirks.ts';
import { quirksOf } from './quirks.ts';
import type { WireModelSettings } from './wire-model.ts';
import { createWireModel } from './wire-model.ts';
import type { Wire } from './wires/wire.ts';

/** What a model needs besides its provider. */
export interface RemoteOptions {
  readonly clock?: Clock;
  readonly fetch?: Fetch;
  /** The longest answer to ask for; undefined lets the provider decide. */
  readonly maxOutput?: number | undefined;
}

/** The native wires, each loaded with its first call: start-up knows none of them. */
const WIRES: Readonly<Record<ProviderType['wire'], () => Promise<Wire>>> = {
  chat: async () => (await import('./wires/chat.ts')).chatWire,
  messages: async () => (await import('./wires/anthropic.ts')).anthropicWire,
  responses: async () => (await import('./wires/responses.ts')).responsesWire,
  gemini: async () => (await import('./wires/gemini.ts')).geminiWire,
  converse: async () => (await import('./wires/converse.ts')).converseWire,
};

/** A model of a provider, over the wire that its type speaks. */
export function createRemoteModel(provider: RemoteProvider, info: ModelInfo, options: RemoteOptions): Model {
  const { type, baseUrl } = provider;
  const { wire } = providerTypeOf(type);
  const headers = headersOf(provider);
  const apiKey = provider.apiKey?.reveal() || undefined; // an empty one is none
  const { clock, maxOutput } = options;
  return createWireModel({
    info,
    baseUrl,
    maxOutput,
    fetch: gateOf(provider, clock ?? systemClock).guard(options.fetch ?? providerFetch),
    ...(clock && { clock }),
    loadWire: WIRES[wire],
    headers: { ...keyHeaders(type, apiKey), ...headers },
    secrets: [apiKey, ...Object.values(headers), ...awsSecrets(provider)].filter(secret => secret !== undefined),
    sign: signerOf(provider, clock ?? systemClock),
    quirks: quirksFor(provider),
  });
}

/** A config that calls OpenAI compatible means OpenAI. */
function quirksFor({ type, baseUrl }: RemoteProvider): Quirks {
  const isOpenAI = providerTypeOf(type).wire === 'chat' && new URL(baseUrl).hostname === 'api.openai.com';
  return quirksOf(isOpenAI ? 'openai-chat' : type);
}

/** One gate a provider, shared by its models. */
const gates = new WeakMap<RemoteProvider, ProviderGate>();

function gateOf(provider: RemoteProvider, clock: Clock): ProviderGate {
  const gate = gates.get(provider) ?? new ProviderGate(clock, provider.concurrency);
  gates.set(provider, gate);
  return gate;
}

function awsSecrets({ aws }: RemoteProvider): (string | undefined)[] {
  return [aws?.accessKeyId, aws?.secretAccessKey, aws?.sessionToken].map(secret => secret?.reveal());
}

/** Signs requests to AWS; undefined where a key in a header does. */
function signerOf({ aws, apiKey }: RemoteProvider, clock: Clock): WireModelSettings['sign'] {
  const accessKeyId = aws?.accessKeyId?.reveal();
  const secretAccessKey = aws?.secretAccessKey?.reveal();
  if (apiKey || !aws || accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const key = { region: aws.region, accessKeyId, secretAccessKey, sessionToken: aws.sessionToken?.reveal() };
  return (url, headers, body) => signAws(url, headers, body, { key, now: clock.now() });
}

/** The headers of the config, their secrets revealed and their names in small letters, so that each takes the place of one of ours. */
export function headersOf(provider: RemoteProvider): Record<string, string> {
  return Object.fromEntries(
    Object.entries(provider.headers).map(([name, secret]) => [name.toLowerCase(), secret.reveal()]),
  );
}
