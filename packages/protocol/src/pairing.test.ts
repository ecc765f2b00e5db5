import type { DescMessage } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  ExecClientMessageSchema,
  ExecServerMessageSchema,
  InteractionQuerySchema,
  InteractionResponseSchema,
  KvClientMessageSchema,
  KvServerMessageSchema,
} from './agent.ts';
import { execAnswers, fitsExec, fitsKv, fitsQuery, kvAnswers, queryAnswers } from './pairing.ts';

function branches(schema: DescMessage): string[] {
  return (schema.oneofs[0]?.fields ?? []).map(field => field.localName).sort();
}

describe.each([
  ['exec', execAnswers, ExecServerMessageSchema, ExecClientMessageSchema],
  ['interaction', queryAnswers, InteractionQuerySchema, InteractionResponseSchema],
  ['kv', kvAnswers, KvServerMessageSchema, KvClientMessageSchema],
] as [string, Record<string, string>, DescMessage, DescMessage][])('the %s table', (_, table, questions, answers) => {
  it('[R28-pairing-complete] has every question of the schema, and each answer once', () => {
    expect(Object.keys(table).sort()).toEqual(branches(questions));
    expect(Object.values(table).sort()).toEqual(branches(answers));
  });

  it('pairs branches of the same stem', () => {
    const stem = (name: string) =>
      name.replace(/(InteractionQuery|InteractionResponse|Args|Result|Stream|Query|Response|Request)+$/, '');
    for (const [question, answer] of Object.entries(table)) expect(stem(answer), question).toBe(stem(question));
  });
});

it('fits a result to its own question alone (R28)', () => {
  expect(fitsExec('readArgs', 'readResult')).toBe(true);
  expect(fitsExec('readArgs', 'redactedReadResult')).toBe(false);
  expect(fitsExec('redactedReadArgs', 'redactedReadResult')).toBe(true);
  expect(fitsExec('shellStreamArgs', 'shellStream')).toBe(true);
  expect(fitsExec('shellStreamArgs', 'shellResult')).toBe(false);
  expect(fitsExec('readArgs', undefined)).toBe(false);
  expect(fitsQuery('webSearchRequestQuery', 'webFetchRequestResponse')).toBe(false);
  expect(fitsQuery('prManagementRequestQuery', 'prManagementResult')).toBe(true);
  expect(fitsKv('getBlobArgs', 'getBlobResult')).toBe(true);
  expect(fitsKv('getBlobArgs', 'setBlobResult')).toBe(false);
});
