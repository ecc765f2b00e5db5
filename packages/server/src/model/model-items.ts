import type { Catalogue, ModelInfo, ModelPrice } from './port.ts';
import { effortParameter } from './variant.ts';

/** One entry of `GET /v1/models`. */
export interface ModelItem {
  id: string;
  displayName: string;
  description?: string;
  aliases?: string[];
  parameters?: { id: string; displayName?: string; values: { value: string; displayName?: string }[] }[];
  variants?: { params: { id: string; value: string }[]; displayName: string; isDefault?: boolean }[];
  /** Tokens that it takes in and gives out together, and those of one answer at most. */
  contextWindow?: number;
  maxOutput?: number;
  /** Both with max mode, for a model that has one. */
  maxMode?: { contextWindow: number; maxOutput: number };
  /** Whether it sees images. */
  vision?: boolean;
  /** Whether it can be asked to think. */
  thinking?: boolean;
  /** US dollars a million tokens, where they are known. */
  price?: ModelPrice;
}

/** The id under which a model is listed: the plain one when it means this model alone, else `provider/id`. */
function listedId(catalogue: Catalogue, model: ModelInfo): string {
  const isUnique = catalogue.models.every(
    other => other.key === model.key || (other.id !== model.id && other.key !== model.id),
  );
  return isUnique ? model.id : model.key;
}

/** The body of `GET /v1/models`: every id and alias in it is one that a run accepts (M01). The default model comes first. */
export function modelItems(catalogue: Catalogue): { items: ModelItem[] } {
  const rest = catalogue.models.filter(model => model.key !== catalogue.defaultModel.key);
  return { items: [catalogue.defaultModel, ...rest].map(model => itemOf(catalogue, model)) };
}

function itemOf(catalogue: Catalogue, model: ModelInfo): ModelItem {
  const id = listedId(catalogue, model);
  const { contextWindow, maxOutput, vision, price, maxMode } = model;
  const thinking = effortParameter(model) !== undefined;
  const item: ModelItem = { id, displayName: model.name, contextWindow, maxOutput, vision, thinking };
  if (maxMode) item.maxMode = { ...maxMode };
  if (price) item.price = price;
  if (model.description !== undefined) item.description = model.description;
  const aliases = new Set(
    [...model.aliases, model.id, model.key].filter(alias => alias !== id && meansOnly(catalogue, alias, model)),
  );
  if (aliases.size > 0) item.aliases = [...aliases];
  if (model.parameters.length > 0) {
    item.parameters = model.parameters.map(parameter => ({
      ...parameter,
      values: parameter.values.map(value => ({ ...value })),
    }));
  }
  const effort = effortParameter(model);
  if (effort) {
    item.variants = effort.values.map(value => ({
      params: [{ id: effort.id, value: value.value }],
      displayName: `${model.name} ${value.displayName ?? value.value}`,
    }));
  }
  return item;
}

/** Whether a run that asks for this name gets this model. */
function meansOnly(catalogue: Catalogue, name: string, model: ModelInfo): boolean {
  return catalogue.resolve({ modelId: name, parameters: {} }).model.info.key === model.key;
}
