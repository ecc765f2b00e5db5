/** A server config whose one model is a scripted provider; `name` is the provider's. */
export function scriptedConfig(baseUrl: string, name = 'scripted') {
  const models = [{ id: 'test-model', name: 'Test model', contextWindow: 200_000, maxOutput: 8_000, vision: false }];
  return {
    providers: { [name]: { type: 'openai-compatible', baseUrl, models } },
    defaultModel: `${name}/test-model`,
    limits: { placeholderSeconds: 600 },
  };
}
