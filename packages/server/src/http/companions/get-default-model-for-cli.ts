import { GetDefaultModelForCliRequestSchema, GetDefaultModelForCliResponseSchema } from '@tandem/protocol/agent';
import { modelItems } from '../../model/model-items.ts';
import type { Unary } from '../unary.ts';
import { modelDetails } from './model-details.ts';

/** GetDefaultModelForCli: the model of a run that names none. */
export const getDefaultModelForCli: Unary<
  typeof GetDefaultModelForCliRequestSchema,
  typeof GetDefaultModelForCliResponseSchema
> = {
  input: GetDefaultModelForCliRequestSchema,
  output: GetDefaultModelForCliResponseSchema,
  handle(_message, _caller, { catalogue }) {
    const [first] = modelItems(catalogue).items; // the default comes first
    return { model: first && modelDetails(first) };
  },
};
