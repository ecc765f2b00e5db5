import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { fitsQuery } from '@tandem/protocol';
import { InteractionQuerySchema, InteractionResponseSchema } from '@tandem/protocol/agent';
import type { InteractionQuery } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import { answerToQuery, approveQuery, questionEvent } from './answer-query.ts';
import type { Query } from './answer-query.ts';

const { signal } = new AbortController();
const queries = InteractionQuerySchema.fields.filter(field => field.oneof !== undefined).map(field => field.localName);
const queryOf = (name: string) =>
  create(InteractionQuerySchema, {
    id: 5,
    query: { case: name, value: {} } as MessageInitShape<typeof InteractionQuerySchema>['query'] & object,
  });
const branchOf = (value: unknown): string | undefined => (value as { result?: { case?: string } }).result?.case;

it.each(queries)('[§12-answer-in-kind] answers %s when nobody does, with the branch that fits', async name => {
  const answer = await answerToQuery(queryOf(name), undefined, signal);
  const overWire = fromBinary(InteractionResponseSchema, toBinary(InteractionResponseSchema, answer));
  expect(overWire.id).toBe(5);
  // Its only branch is a success, and there was none: an answer without a branch counts as rejected.
  if (name === 'setupVmEnvironmentArgs') return expect(overWire.result.case).toBeUndefined();
  expect(fitsQuery(name as Query['case'], overWire.result.case!)).toBe(true);
});

it('refuses with a reason', async () => {
  const answer = await answerToQuery(queryOf('webSearchRequestQuery'), undefined, signal);
  expect(answer.result).toMatchObject({
    value: { result: { case: 'rejected', value: { reason: expect.stringMatching(/nobody/) } } },
  });
});

it('takes a plan, which is only shown', async () => {
  const answer = await answerToQuery(queryOf('createPlanRequestQuery'), undefined, signal);
  expect(answer.result).toMatchObject({
    case: 'createPlanRequestResponse',
    value: { result: { result: { case: 'success' } } },
  });
});

it('gives the answer of the embedder', async () => {
  const answer = await answerToQuery(
    queryOf('webFetchRequestQuery'),
    query => Promise.resolve(approveQuery(query)),
    signal,
  );
  expect(answer.result.case).toBe('webFetchRequestResponse');
  expect(branchOf(answer.result.value)).toBe('approved');
});

it('refuses when the embedder throws or answers another question', async () => {
  const thrown = await answerToQuery(
    queryOf('switchModeRequestQuery'),
    () => Promise.reject(new Error('window closed')),
    signal,
  );
  expect(thrown.result).toMatchObject({ value: { result: { case: 'rejected', value: { reason: 'window closed' } } } });
  const search = approveQuery(queryOf('webSearchRequestQuery').query as Query);
  const wrong = await answerToQuery(queryOf('switchModeRequestQuery'), () => Promise.resolve(search), signal);
  expect(wrong.result).toMatchObject({ case: 'switchModeRequestResponse', value: { result: { case: 'rejected' } } });
});

it('X01: answers a query of a newer schema too', async () => {
  const unknown: InteractionQuery = create(InteractionQuerySchema, { id: 8 });
  expect(await answerToQuery(unknown, undefined, signal)).toMatchObject({ id: 8, result: { case: undefined } });
});

it('tells a question by its name and content', () => {
  const query = create(InteractionQuerySchema, {
    id: 2,
    query: {
      case: 'askQuestionInteractionQuery',
      value: { args: { title: 'Which?', questions: [{ id: 'q', prompt: 'Pick one' }] } },
    },
  });
  expect(questionEvent(query)).toEqual({
    type: 'question',
    id: 2,
    kind: 'ask_question',
    query: { args: { title: 'Which?', questions: [{ id: 'q', prompt: 'Pick one' }] } },
  });
});
