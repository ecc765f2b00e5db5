import type { Problem } from './problem.ts';
import { providerTypeOf } from './provider-types.ts';
import type { ProviderEntry } from './schema.ts';

/** Providers that nobody could call: a hosted one without any key, a signer of requests without half of its key. */
export function missingAccess(providers: Readonly<Record<string, ProviderEntry>>): Problem[] {
  return Object.entries(providers).flatMap(([name, entry]): Problem[] => {
    if (entry.type === 'demo' || entry.type === 'openai-compatible' || entry.apiKey !== undefined) return [];
    const at = (key: string, says: string): Problem => ({ path: ['providers', name, key], says });
    if ('region' in entry) {
      const hasHeaders = entry.headers !== undefined;
      if (entry.accessKeyId !== undefined && entry.secretAccessKey !== undefined) return [];
      if (entry.accessKeyId === undefined && entry.secretAccessKey === undefined) {
        const says = 'expected accessKeyId and secretAccessKey, or an apiKey, such as ${AWS_BEARER_TOKEN_BEDROCK}';
        return hasHeaders ? [] : [at('accessKeyId', says)];
      }
      const missing = entry.accessKeyId === undefined ? 'accessKeyId' : 'secretAccessKey';
      return [at(missing, 'expected both halves of the key, found one')];
    }
    const { keyVariable, baseUrl } = providerTypeOf(entry.type);
    const isElsewhere = entry.baseUrl !== undefined && baseUrl !== undefined; // a gateway may hold the key
    if (keyVariable === undefined || isElsewhere || entry.headers !== undefined) return [];
    return [at('apiKey', `expected a key, such as \${${keyVariable}}, found nothing`)];
  });
}
