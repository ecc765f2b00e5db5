import { fault } from '@tandem/protocol';
import type { RemoteProvider } from '../config/config.ts';
import { PROVIDER_TYPE, providerTypeOf } from '../config/provider-types.ts';
import type { RemoteType } from '../config/provider-types.ts';
import type { Secret } from '../config/secret.ts';
import type { RunCredentials } from '../credentials/run-credentials.ts';
import type { ModelInfo } from './port.ts';

/** Whose models a name belongs to, for a key that comes without an address. */
const HOMES: readonly { readonly ids: RegExp; readonly type: RemoteType }[] = [
  { ids: /^(?:gpt-|chatgpt-|o\d)/, type: 'openai' },
  { ids: /^claude-/, type: 'anthropic' },
  { ids: /^gemini-/, type: 'google' },
  { ids: /^grok-/, type: 'xai' },
  { ids: /^deepseek-/, type: 'deepseek' },
  { ids: /^(?:mistral|codestral|magistral|devstral)-/, type: 'mistral' },
];

/**
 * Where a run's own credentials lead, in the terms of a config.
 *
 * @param home the provider of the model here, if the server offers the model
 * @throws Fault that names the field which is wrong, without its value
 */
export function placeOf(
  credentials: RunCredentials,
  info: ModelInfo,
  home: RemoteProvider | undefined,
): RemoteProvider {
  switch (credentials.kind) {
    case 'api-key': {
      const { apiKey, baseUrl } = credentials;
      const key = apiKey ? { apiKey } : {};
      if (baseUrl) return { ...strange, ...addressed(readAddress(baseUrl, 'api_key_credentials.base_url')), ...key };
      if (home) {
        const { aws: _aws, apiKey: _apiKey, ...rest } = home;
        return { ...rest, headers: {}, ...key }; // any header of the operator may be what pays
      }
      const type = HOMES.find(({ ids }) => ids.test(info.id))?.type;
      const address = type && providerTypeOf(type).baseUrl;
      if (type && address !== undefined) return { ...strange, type, baseUrl: address, ...key };
      throw fault(
        'unknown_model',
        `There is no model ${JSON.stringify(info.id.slice(0, 100))} here, and the key came without an address. Give the address of its provider in base_url.`,
      );
    }
    case 'azure': {
      const address = readAddress(credentials.baseUrl, 'azure_credentials.base_url');
      const isWhole = new URL(address).pathname.includes('/openai');
      const baseUrl = isWhole ? address : `${address}/openai/v1`;
      return { ...strange, type: 'azure', baseUrl, apiKey: credentials.apiKey };
    }
    case 'bedrock': {
      const { accessKey, secretKey, sessionToken, region } = credentials;
      if (!/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/.test(region)) {
        throw fault('bad_request', 'bedrock_credentials.region is no region. Give one such as us-east-1.');
      }
      const aws = {
        region,
        accessKeyId: accessKey,
        secretAccessKey: secretKey,
        ...(sessionToken && { sessionToken }),
      };
      return { ...strange, type: 'bedrock', baseUrl: bedrockAddress(region, home), aws };
    }
  }
}

const strange = { name: 'own', headers: {}, models: [] } as const;

/** Where Bedrock is in a region; a gateway that the operator put before it stays before it. */
function bedrockAddress(region: string, home: RemoteProvider | undefined): string {
  if (home?.type === 'bedrock' && !/\.amazonaws\.com(?:\.cn)?$/.test(new URL(home.baseUrl).hostname)) {
    return home.baseUrl;
  }
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

/** What is spoken at an address: known hosts by their type, a path that says anthropic by that, everything else as chat completions. */
function addressed(address: string): { type: RemoteType; baseUrl: string } {
  const url = new URL(address);
  const types = Object.keys(PROVIDER_TYPE) as RemoteType[];
  const type = types.find(name => {
    const { baseUrl } = providerTypeOf(name);
    return baseUrl !== undefined && url.protocol === 'https:' && new URL(baseUrl).hostname === url.hostname;
  });
  const known = type && providerTypeOf(type).baseUrl;
  if (known !== undefined && (url.pathname === '/' || known === address)) return { type: type!, baseUrl: known };
  if (/\/anthropic(?:\/v1)?$/.test(url.pathname)) {
    return { type: 'anthropic', baseUrl: url.pathname.endsWith('/v1') ? address : `${address}/v1` };
  }
  return { type: 'openai-compatible', baseUrl: address };
}

/**
 * Whether a run's own credentials pay for its calls: they go to no host of the operator's, or they took the place of a key that he
 * has there. Where he has none (a model of his own, a key in some header), any text would pass for a key, and he pays.
 */
export function isPaidByRun(place: RemoteProvider, providers: readonly RemoteProvider[]): boolean {
  const { host } = new URL(place.baseUrl);
  const there = providers.filter(provider => new URL(provider.baseUrl).host === host);
  return there.length === 0 || (hasKey(place) && there.every(hasKey));
}

const hasKey = ({ apiKey, aws }: RemoteProvider) =>
  Boolean(apiKey?.reveal()) || Boolean(aws?.accessKeyId && aws.secretAccessKey);

/** An address as people paste it: with a slash at its end, or with the path of the call itself. */
function readAddress(address: Secret, field: string): string {
  const text = address
    .reveal()
    .replace(/\/+$/, '')
    .replace(/\/chat\/completions$/, '');
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw fault('bad_request', `${field} is no http or https address. Give one such as https://api.example.com/v1.`);
}
