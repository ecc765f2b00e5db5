/** How the key of a provider travels. */
type KeyHeader = 'authorization' | 'x-api-key' | 'api-key' | 'x-goog-api-key';

/** What is known of a type of provider. */
export interface ProviderType {
  /** What is spoken there: each is an adapter in model/wires. */
  readonly wire: 'chat' | 'responses' | 'messages' | 'gemini' | 'converse';
  /** Where it is; absent where each customer has an address of their own. */
  readonly baseUrl?: string;
  /** An address as one looks, for the error that asks for it. */
  readonly example?: string;
  /** The variable that usually holds its key; absent where no key is needed. */
  readonly keyVariable?: string;
  readonly keyHeader: KeyHeader;
  /** Whether it has a list of its models below its base URL. */
  readonly listsModels: boolean;
}

const bearer = { keyHeader: 'authorization', listsModels: true } as const;
const chat = { wire: 'chat', ...bearer } as const;

/** The values of `type` in the config, `demo` aside. */
export const PROVIDER_TYPE = {
  'openai-compatible': { ...chat, example: 'http://127.0.0.1:8000/v1' },
  openai: { wire: 'responses', ...bearer, baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  'openai-chat': { ...chat, baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  anthropic: {
    wire: 'messages',
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariable: 'ANTHROPIC_API_KEY',
    keyHeader: 'x-api-key',
    listsModels: true,
  },
  google: {
    wire: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariable: 'GEMINI_API_KEY',
    keyHeader: 'x-goog-api-key',
    listsModels: true,
  },
  vertex: {
    wire: 'gemini',
    example: 'https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/google',
    keyVariable: 'VERTEX_ACCESS_TOKEN',
    keyHeader: 'authorization',
    listsModels: false,
  },
  azure: {
    wire: 'responses',
    example: 'https://RESOURCE.openai.azure.com/openai/v1',
    keyVariable: 'AZURE_API_KEY',
    keyHeader: 'api-key',
    listsModels: false, // its list holds what could be deployed, not what is
  },
  bedrock: { wire: 'converse', keyHeader: 'authorization', listsModels: false },
  xai: { ...chat, baseUrl: 'https://api.x.ai/v1', keyVariable: 'XAI_API_KEY' },
  mistral: { ...chat, baseUrl: 'https://api.mistral.ai/v1', keyVariable: 'MISTRAL_API_KEY' },
  groq: { ...chat, baseUrl: 'https://api.groq.com/openai/v1', keyVariable: 'GROQ_API_KEY' },
  deepseek: { ...chat, baseUrl: 'https://api.deepseek.com/v1', keyVariable: 'DEEPSEEK_API_KEY' },
  openrouter: { ...chat, baseUrl: 'https://openrouter.ai/api/v1', keyVariable: 'OPENROUTER_API_KEY' },
  ollama: { ...chat, baseUrl: 'http://127.0.0.1:11434/v1' },
  lmstudio: { ...chat, baseUrl: 'http://127.0.0.1:1234/v1' },
  'llama.cpp': { ...chat, baseUrl: 'http://127.0.0.1:8080/v1' },
} as const satisfies Record<string, ProviderType>;

/** A type of provider that is called over HTTP. */
export type RemoteType = keyof typeof PROVIDER_TYPE;

/** What is known of a type of provider. */
export function providerTypeOf(type: RemoteType): ProviderType {
  return PROVIDER_TYPE[type];
}

/** The headers in which a provider of this type takes its key. */
export function keyHeaders(type: RemoteType, apiKey: string | undefined): Record<string, string> {
  const { keyHeader, wire } = providerTypeOf(type);
  const version: Record<string, string> = wire === 'messages' ? { 'anthropic-version': '2023-06-01' } : {};
  if (apiKey === undefined) return version;
  return { ...version, [keyHeader]: keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey };
}
