import type { CompatibleProvider, ProviderConfig } from './config.ts';
import type { Environment } from './file.ts';
import { Secret } from './secret.ts';

/** How long a local provider may take to show that it is there: a loopback answer takes a few milliseconds. */
const LOCAL_PROBE_MS = 300;

interface KnownProvider {
  readonly name: string;
  readonly key: string;
  readonly baseUrl: string;
  /** A variable that moves the address. */
  readonly baseUrlKey?: string;
}

/** Providers that a key in the environment configures, in the order in which the default model is looked for. */
const HOSTED: readonly KnownProvider[] = [
  { name: 'openai', key: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com/v1', baseUrlKey: 'OPENAI_BASE_URL' },
  { name: 'openrouter', key: 'OPENROUTER_API_KEY', baseUrl: 'https://openrouter.ai/api/v1' },
  { name: 'gemini', key: 'GEMINI_API_KEY', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai' },
];

/** Providers on this machine that need no key. */
const LOCAL: readonly { name: string; baseUrl: string }[] = [
  { name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'lmstudio', baseUrl: 'http://127.0.0.1:1234/v1' },
];

/** Tells whether something answers at a local address, within a fraction of a second. */
export type Probe = (baseUrl: string) => Promise<boolean>;

/** Providers without a config file: from keys in the environment, and local servers that answer; else the demo model. */
export async function providersOfEnvironment(
  env: Environment,
  probe: Probe = answersLocally,
): Promise<{ providers: ProviderConfig[]; notices: string[] }> {
  const notices: string[] = [];
  const providers: ProviderConfig[] = [];
  for (const { name, key, baseUrl, baseUrlKey } of HOSTED) {
    const apiKey = env[key]?.trim();
    if (!apiKey) continue;
    const address = (baseUrlKey && env[baseUrlKey]?.trim()) || baseUrl;
    if (!URL.canParse(address)) {
      notices.push(`${baseUrlKey} is no address, so ${key} is left aside.`);
      continue;
    }
    providers.push({ ...compatible(name, address), apiKey: new Secret(apiKey) });
    notices.push(`Using ${name}, found by ${key}.`);
  }
  const answers = await Promise.all(LOCAL.map(({ baseUrl }) => probe(baseUrl)));
  for (const [at, { name, baseUrl }] of LOCAL.entries()) {
    if (!answers[at]) continue;
    providers.push(compatible(name, baseUrl));
    notices.push(`Using ${name}, which answers at ${baseUrl}.`);
  }
  if (env['ANTHROPIC_API_KEY']?.trim()) {
    notices.push(
      'ANTHROPIC_API_KEY is set, but providers of type anthropic come in a later version; openai-compatible and demo work now.',
    );
  }
  if (providers.length === 0) {
    providers.push({ name: 'demo', type: 'demo' });
    notices.push(
      'No provider is configured, so the built-in demo model answers. Set OPENAI_API_KEY, OPENROUTER_API_KEY or GEMINI_API_KEY, start Ollama or LM Studio, or write a tandem.yaml.',
    );
  }
  return { providers, notices };
}

function compatible(name: string, baseUrl: string): CompatibleProvider {
  return { name, type: 'openai-compatible', baseUrl, headers: {}, models: [] };
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
