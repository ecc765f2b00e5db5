import { create } from '@bufbuild/protobuf';
import { fitsQuery } from '@tandem/protocol';
import { InteractionQuerySchema, InteractionResponseSchema } from '@tandem/protocol/agent';
import type { InteractionQuery, InteractionResponse } from '@tandem/protocol/agent';
import { messageJson } from './card-json.ts';
import type { QuestionEvent } from './event.ts';
import { reasonOf } from './failure.ts';

/** The branches of a query (§19.2) and of its answer (§12). */
export type Query = Exclude<InteractionQuery['query'], { case: undefined }>;
export type QueryAnswer = Exclude<InteractionResponse['result'], { case: undefined }>;

/** Answers a query, perhaps by asking a human: there is no deadline. Undefined leaves it to the default, a typed refusal.
 * `id` is that of the question's event; `signal` tells that nobody waits for the answer any more. */
export type AnswerQuery = (
  query: Query,
  context: { signal: AbortSignal; id: number },
) => Promise<QueryAnswer | undefined>;

/** Why a query is refused when nobody answers it. */
const NOBODY = 'nobody is here to answer; go on without it';

/** The answer to one query. Every query gets one, an unknown one an answer without a branch, which counts as rejected (R36). Never rejects. */
export async function answerToQuery(
  message: InteractionQuery,
  answerQuery: AnswerQuery | undefined,
  signal: AbortSignal,
): Promise<InteractionResponse> {
  const { id, query } = message;
  if (query.case === undefined) return create(InteractionResponseSchema, { id });
  let answer: QueryAnswer | undefined;
  let reason = NOBODY;
  try {
    answer = await answerQuery?.(query, { signal, id });
    if (answer !== undefined && !fitsQuery(query.case, answer.case)) {
      reason = `the client answered ${query.case} with ${answer.case}`;
      answer = undefined;
    }
  } catch (error) {
    reason = reasonOf(error);
  }
  return create(InteractionResponseSchema, { id, result: answer ?? refuseQuery(query, reason) });
}

/** The refusal of a query, with its reason where the branch has room for one. A plan is only shown, so it is taken. */
export function refuseQuery(query: Query, reason: string): InteractionResponse['result'] {
  const rejected = { result: { case: 'rejected' as const, value: { reason } } };
  // Plain objects become messages in `create`, by the type of the branch.
  const answers: Record<Query['case'], unknown> = {
    askQuestionInteractionQuery: { case: 'askQuestionInteractionResponse', value: { result: rejected } },
    createPlanRequestQuery: {
      case: 'createPlanRequestResponse',
      value: { result: { result: { case: 'success', value: {} } } },
    },
    webSearchRequestQuery: { case: 'webSearchRequestResponse', value: rejected },
    webFetchRequestQuery: { case: 'webFetchRequestResponse', value: rejected },
    switchModeRequestQuery: { case: 'switchModeRequestResponse', value: rejected },
    generateImageRequestQuery: { case: 'generateImageRequestResponse', value: rejected },
    mcpAuthRequestQuery: { case: 'mcpAuthRequestResponse', value: rejected },
    connectScmRequestQuery: { case: 'connectScmRequestResponse', value: rejected },
    prManagementRequestQuery: { case: 'prManagementResult', value: rejected },
    replaceEnvArgs: {
      case: 'replaceEnvResult',
      value: { result: { case: 'failure', value: { errorMessage: reason } } },
    },
    // Its result can only be a success, and this would be none.
    setupVmEnvironmentArgs: { case: undefined },
  };
  return answers[query.case] as InteractionResponse['result'];
}

/** The approval of a query that asks for leave to do something (R36); undefined for those that want a result. */
export function approveQuery(query: Query): QueryAnswer | undefined {
  const approved = { result: { case: 'approved' as const, value: {} } };
  const answers: Partial<Record<Query['case'], unknown>> = {
    webSearchRequestQuery: { case: 'webSearchRequestResponse', value: approved },
    webFetchRequestQuery: { case: 'webFetchRequestResponse', value: approved },
    switchModeRequestQuery: { case: 'switchModeRequestResponse', value: approved },
  };
  if (query.case === 'generateImageRequestQuery') {
    const description = query.value.args?.description ?? '';
    answers.generateImageRequestQuery = {
      case: 'generateImageRequestResponse',
      value: { result: { case: 'approved', value: { description } } },
    };
  }
  return answers[query.case] as QueryAnswer | undefined;
}

/** A query as an event. */
export function questionEvent(message: InteractionQuery): QuestionEvent {
  const field = InteractionQuerySchema.fields.find(candidate => candidate.localName === message.query.case);
  const json =
    field?.message === undefined || message.query.value === undefined
      ? {}
      : messageJson(field.message, message.query.value);
  return {
    type: 'question',
    id: message.id,
    kind: (field?.name ?? 'unknown').replace(/(_request|_interaction)?_(query|args)$/, ''),
    query: json,
  };
}
