import { Fault, fault } from '@tandem/protocol';
import { GetUsableModelsRequestSchema, GetUsableModelsResponseSchema } from '@tandem/protocol/agent';
import type { ModelDetails } from '@tandem/protocol/agent';
import { modelItems } from '../../model/model-items.ts';
import type { Catalogue } from '../../model/port.ts';
import type { Unary } from '../unary.ts';
import { modelDetails } from './model-details.ts';

/** Names that one request may ask about: a person types in a few, and each is looked up in the whole catalogue. */
const CUSTOM_IDS = 100;
/** The longest name that is looked up; no model has one that is near. */
const CUSTOM_ID_CHARACTERS = 256;

/** GetUsableModels: the default model first, then every other one, then what the client asked for besides and a run would accept (M01). */
export const getUsableModels: Unary<typeof GetUsableModelsRequestSchema, typeof GetUsableModelsResponseSchema> = {
  input: GetUsableModelsRequestSchema,
  output: GetUsableModelsResponseSchema,
  async handle({ customModelIds }, _, { catalogue }) {
    if (customModelIds.length > CUSTOM_IDS) {
      throw fault('bad_request', `custom_model_ids has ${customModelIds.length} entries; the limit is ${CUSTOM_IDS}.`);
    }
    await catalogue.refresh?.();
    const models = modelItems(catalogue).items.map(modelDetails);
    const listed = new Set(models.map(({ modelId }) => modelId));
    for (const id of new Set(customModelIds)) {
      const custom = listed.has(id) ? undefined : customModel(catalogue, id);
      if (custom) models.push(custom);
    }
    return { models };
  },
};

/** A model under a name that the list does not have, such as a variant; undefined when a run would not accept the name. */
function customModel(catalogue: Catalogue, id: string): ModelDetails | undefined {
  if (id.trim() === '' || id.length > CUSTOM_ID_CHARACTERS) return undefined;
  try {
    const { model, parameters } = catalogue.resolve({ modelId: id, parameters: {} });
    return modelDetails({ id, displayName: [model.info.name, ...Object.values(parameters)].join(' ') });
  } catch (error) {
    if (error instanceof Fault) return undefined; // no model has that name: the list says so by leaving it out
    throw error;
  }
}
