import { GetAllowedModelIntentsRequestSchema, GetAllowedModelIntentsResponseSchema } from '@tandem/protocol/agent';
import type { Unary } from '../unary.ts';

/** GetAllowedModelIntents: no list, because this server restricts none. */
export const getAllowedModelIntents: Unary<
  typeof GetAllowedModelIntentsRequestSchema,
  typeof GetAllowedModelIntentsResponseSchema
> = {
  input: GetAllowedModelIntentsRequestSchema,
  output: GetAllowedModelIntentsResponseSchema,
  handle: () => ({ modelIntents: [] }),
};
