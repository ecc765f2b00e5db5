/** A server config whose one model is a scripted provider. */
export function scriptedConfig(baseUrl: string): Record<string, unknown> {
  const models = [{ id: 'test-model', name: 'Test model', contextWindow: 200_000, maxOutput: 8_000, vision: false }];
  return {
    providers: { scripted: { type: 'openai-compatible', baseUrl, models } },
    defaultModel: 'scripted/test-model',
    limits: { placeholderSeconds: 600 },
  };
}
