import { Fault } from '@tandem/protocol';
import type { AgentRunRequest } from '@tandem/protocol/agent';
import type { RunCredentials } from '../credentials/run-credentials.ts';
import type { Catalogue, ModelChoice, ModelInfo, ResolvedModel } from '../model/port.ts';

/**
 * Which model a run asks for (§6, R64): `requested_model` over `model_details` over nothing, which means the default. Clients that
 * show a model under another id than they call it by may give that one alone.
 */
export function modelChoice(
  request: Pick<AgentRunRequest, 'requestedModel' | 'modelDetails'>,
  credentials: RunCredentials | undefined,
  session: string,
): ModelChoice {
  const { requestedModel: requested, modelDetails: details } = request;
  if (requested?.modelId) {
    return {
      modelId: requested.modelId,
      parameters: Object.fromEntries(requested.parameters.map(({ id, value }) => [id, value])),
      maxMode: requested.maxMode,
      credentials,
      session,
    };
  }
  return {
    modelId: details?.modelId || details?.displayModelId || '',
    parameters: {},
    maxMode: requested?.maxMode || details?.maxMode || false,
    credentials,
    session,
  };
}

/** The model of a choice. A name that nobody has is looked for once more after the providers were asked again: it may be new. */
export async function resolveModel(catalogue: Catalogue, choice: ModelChoice): Promise<ResolvedModel> {
  try {
    return catalogue.resolve(choice);
  } catch (error) {
    if (!(error instanceof Fault && error.name_ === 'unknown_model' && catalogue.refresh)) throw error;
    await catalogue.refresh('all');
    return catalogue.resolve(choice);
  }
}

/** What the person is told of parameters that the model does not have; undefined when there are none. */
export function ignoredNotice({ name, parameters }: ModelInfo, ignored: ResolvedModel['ignored']): string | undefined {
  if (!ignored?.length) return undefined;
  const missing = ignored.map(({ id, value }) => `${plain(id)} (${plain(value)})`).join(', ');
  const known = parameters.map(({ id, values }) => `${id} (${values.map(({ value }) => value).join(', ')})`);
  const has = known.length > 0 ? `it has ${known.join(', ')}` : 'it has none that can be chosen';
  return `${name} has no parameter ${missing}, so the run goes on without: ${has}.`;
}

/** A name of a client on one line, and not a page of it. */
const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ').slice(0, 60);
