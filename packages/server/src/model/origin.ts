import type { MessagePart, ModelMessage, ProviderOptions } from '@tandem/protocol/message';

/**
 * Where a part of an answer came from, kept in `providerOptions.tandem` of the part (R24, R46): the key of the model that
 * wrote it, and for a tool call the id that the provider gave it.
 */
export interface Origin {
  model?: string;
  providerId?: string;
}

/** The options to store with a part of an answer of this model. */
export function originOptions(model: string, providerId?: string): ProviderOptions {
  return { tandem: providerId === undefined ? { model } : { model, providerId } };
}

/** Reads what {@link originOptions} stored; what the part lacks is looked for at its message. */
export function originOf(part: MessagePart, message: ModelMessage): Origin {
  const own = tandemOptions(part['providerOptions' as keyof MessagePart]);
  const outer = tandemOptions(message.providerOptions);
  const origin: Origin = {};
  const model = own['model'] ?? outer['model'];
  if (typeof model === 'string') origin.model = model;
  if (typeof own['providerId'] === 'string') origin.providerId = own['providerId'];
  return origin;
}

function tandemOptions(options: unknown): Record<string, unknown> {
  if (typeof options !== 'object' || options === null) return {};
  const own = (options as Record<string, unknown>)['tandem'];
  return typeof own === 'object' && own !== null ? (own as Record<string, unknown>) : {};
}
