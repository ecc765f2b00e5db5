let loading: Promise<typeof import('@ai-sdk/openai-compatible')> | undefined;

/** Loads the provider layer on first use, since it costs start-up time. */
export function loadProviderLayer(): Promise<typeof import('@ai-sdk/openai-compatible')> {
  loading ??= import('@ai-sdk/openai-compatible');
  return loading;
}
