import { ConfigError, createCatalogue, namesModels } from '@tandem/server';
import type { Config } from '@tandem/server';
import type { Finding } from './finding.ts';

/** Whether some provider has the default model and each model that routes and fallbacks name; nothing where the config names none. */
export async function examineNamedModels(config: Config): Promise<Finding[]> {
  if (!namesModels(config)) return [];
  const about = 'models';
  try {
    const { missing } = await createCatalogue(config);
    if (missing.length === 0) {
      return [{ about, state: 'ok', says: 'the default and what routes and fallbacks name are all there' }];
    }
    return missing.map(says => ({
      about,
      state: 'warning',
      says,
      mend: 'Start its provider, or mend the name in the config.',
    }));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      {
        about,
        state: 'broken',
        says: error.message,
        mend: 'Mend the name in the config; a provider without models in the config has to answer.',
      },
    ];
  }
}
