import type { ModelInfo } from './port.ts';

/** A model name with what it chooses. */
export interface Variant {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Splits `id[effort=high,fast=false]` (M04); undefined when a name has no brackets at its end or nothing before them. */
export function parseVariant(modelId: string): Variant | undefined {
  const match = /^(.+?)\[([^[\]]*)\]$/s.exec(modelId.trim());
  if (!match?.[1]) return undefined;
  const parameters: Record<string, string> = {};
  for (const pair of (match[2] ?? '').split(',')) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals < 0 ? undefined : equals).trim();
    if (name !== '') parameters[name] = equals < 0 ? 'true' : pair.slice(equals + 1).trim();
  }
  return { name: match[1].trim(), parameters };
}

/** The names that clients use for how long a model thinks. */
const EFFORT = new Set(['effort', 'reasoning', 'reasoning_effort', 'thinking_effort']);

/** Efforts of a model whose parameters nobody described. */
const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The parameter with which a model chooses its effort, if it is described. */
export function effortParameter(model: ModelInfo): ModelInfo['parameters'][number] | undefined {
  return model.parameters.find(parameter => EFFORT.has(parameter.id));
}

/** Splits an effort off the end of a name, `id-high` (M02). */
export function parseEffortSuffix(modelId: string): Variant | undefined {
  const dash = modelId.lastIndexOf('-');
  if (dash <= 0 || dash === modelId.length - 1) return undefined;
  return { name: modelId.slice(0, dash), parameters: { effort: modelId.slice(dash + 1) } };
}

/** Whether a model takes this value as its effort. */
export function takesEffort(model: ModelInfo, value: string): boolean {
  const parameter = effortParameter(model);
  if (parameter) return parameter.values.some(known => known.value === value);
  return model.parameters.length === 0 && EFFORTS.includes(value);
}

/** What a model is asked for of a choice, and what of the choice it does not have. */
export interface ChosenParameters {
  readonly parameters: Record<string, string>;
  readonly ignored: readonly { readonly id: string; readonly value: string }[];
}

/** Values that ask for nothing. */
const OFF: ReadonlySet<string> = new Set(['false', 'off', 'none', 'default']);

/**
 * What of a choice the model is asked for, under the names of its own parameters: effort whatever the client calls it, and
 * what the model is described with. One that it does not have is left out, and told where leaving it out changes something: what is
 * switched off is off without it too.
 * @returns the parameters and what was left out, or the first that has a value which the model does not take
 */
export function chooseParameters(
  model: ModelInfo,
  chosen: Readonly<Record<string, string>>,
): ChosenParameters | { refused: { id: string; value: string; values: readonly string[] } } {
  const parameters: Record<string, string> = {};
  const ignored: { id: string; value: string }[] = [];
  for (const [id, value] of Object.entries(chosen)) {
    if (value === '') continue;
    const described = EFFORT.has(id) ? effortParameter(model) : model.parameters.find(parameter => parameter.id === id);
    if (described) {
      const values = described.values.map(known => known.value);
      if (!values.includes(value)) return { refused: { id: described.id, value, values } };
      parameters[described.id] = value;
    } else if (EFFORT.has(id) && model.parameters.length === 0) parameters['effort'] = value;
    else if (!OFF.has(value)) ignored.push({ id, value });
  }
  return { parameters, ignored };
}
