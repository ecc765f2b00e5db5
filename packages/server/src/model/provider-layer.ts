import { registerHooks } from 'node:module';

/** The condition under which this repository resolves its own packages to their sources. */
const SOURCE = 'source';

let loading: Promise<typeof import('@ai-sdk/openai-compatible')> | undefined;

/**
 * Loads the provider layer on first use, since it costs start-up time.
 *
 * One of its dependencies publishes TypeScript under the same condition with which we run from source, and Node strips no types
 * in node_modules: so what a package there imports is resolved without that condition.
 */
export function loadProviderLayer(): Promise<typeof import('@ai-sdk/openai-compatible')> {
  loading ??= (async () => {
    registerHooks({
      resolve(specifier, context, next) {
        const { conditions, parentURL } = context;
        if (!parentURL?.includes('/node_modules/') || !conditions.includes(SOURCE)) return next(specifier, context);
        return next(specifier, { ...context, conditions: conditions.filter(condition => condition !== SOURCE) });
      },
    });
    return import('@ai-sdk/openai-compatible');
  })();
  return loading;
}
