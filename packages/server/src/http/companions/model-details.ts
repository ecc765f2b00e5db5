import { create } from '@bufbuild/protobuf';
import { ModelDetailsSchema, ThinkingDetailsSchema } from '@tandem/protocol/agent';
import type { ModelDetails } from '@tandem/protocol/agent';
import type { ModelItem } from '../../model/model-items.ts';

/** A model of the catalogue as clients show it (§6.2). A run accepts its id, its display id and each alias (M01). */
export function modelDetails({ id, displayName, aliases = [], variants = [] }: ModelItem): ModelDetails {
  return create(ModelDetailsSchema, {
    modelId: id,
    displayModelId: id,
    displayName,
    displayNameShort: displayName,
    aliases,
    // only a model whose effort can be chosen is known to think
    ...(variants.length > 0 ? { thinkingDetails: create(ThinkingDetailsSchema) } : {}),
  });
}
