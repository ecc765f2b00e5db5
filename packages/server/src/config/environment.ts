import type { ProviderConfig, RemoteProvider } from './config.ts';
import type { Environment } from './file.ts';
import type { RemoteType } from './provider-types.ts';
import { providerTypeOf } from './provider-types.ts';
import { Secret } from './secret.ts';

/** How long a local provider may take to show that it is there: a loopback answer takes a few milliseconds. */
const LOCAL_PROBE_MS = 300;

/** Types that a key in the environment configures, in the order in which the default model is looked for. */
const HOSTED: readonly RemoteType[] = [
  'openai',
  'anthropic',
  'openrouter',
  'google',
  'xai',
  'mistral',
  'groq',
  'deepseek',
];

/** Names of providers that are not those of their types. */
const NAMES: { readonly [type in RemoteType]?: string } = { google: 'gemini' };

/** A variable that moves the address of OpenAI; what stands there mostly knows chat completions alone. */
const OPENAI_ADDRESS = 'OPENAI_BASE_URL';

/** Providers on this machine that need no key. */
const LOCAL: readonly RemoteType[] = ['ollama', 'lmstudio'];

/** Tells whether something answers at a local address, within a fraction of a second. */
export type Probe = (baseUrl: string) => Promise<boolean>;

/** Providers without a config file: from keys in the environment, and local servers that answer; else the demo model. */
export async function providersOfEnvironment(
  env: Environment,
  probe: Probe = answersLocally,
): Promise<{ providers: ProviderConfig[]; notices: string[] }> {
  const notices: string[] = [];
  const providers: ProviderConfig[] = [];
  for (const type of HOSTED) {
    const { keyVariable = '', baseUrl = '' } = providerTypeOf(type);
    const apiKey = env[keyVariable]?.trim();
    if (!apiKey) continue;
    const name = NAMES[type] ?? type;
    const moved = type === 'openai' ? env[OPENAI_ADDRESS]?.trim() : undefined;
    if (moved && !URL.canParse(moved)) {
      notices.push(`${OPENAI_ADDRESS} is no address, so ${keyVariable} is left aside.`);
      continue;
    }
    const provider = moved ? remote(name, 'openai-compatible', moved) : remote(name, type, baseUrl);
    providers.push({ ...provider, apiKey: new Secret(apiKey) });
    notices.push(`Using ${name}, found by ${keyVariable}.`);
  }
  const answers = await Promise.all(LOCAL.map(type => probe(providerTypeOf(type).baseUrl ?? '')));
  for (const [at, type] of LOCAL.entries()) {
    const { baseUrl = '' } = providerTypeOf(type);
    if (!answers[at]) continue;
    providers.push(remote(type, type, baseUrl));
    notices.push(`Using ${type}, which answers at ${baseUrl}.`);
  }
  if (providers.length === 0) {
    providers.push({ name: 'demo', type: 'demo' });
    notices.push(
      'No provider is configured, so the built-in demo model answers. Set OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY or GEMINI_API_KEY, start Ollama or LM Studio, or write a tandem.yaml.',
    );
  }
  return { providers, notices };
}

function remote(name: string, type: RemoteType, baseUrl: string): RemoteProvider {
  return { name, type, baseUrl, headers: {}, models: [] };
}

async function answersLocally(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(LOCAL_PROBE_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // nobody listens there, or not quickly enough: either way it is not used
  }
}
