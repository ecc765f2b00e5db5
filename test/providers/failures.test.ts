import { describe, expect, it } from 'vitest';
import type { Fault } from '@tandem/protocol';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { ERROR_TEXT_CHARACTERS } from '../../packages/server/src/model/limits.ts';
import { PLANTED_KEY, ask, connectModel, requestOf, user } from '../support/provider-model.ts';
import { startWireProvider } from '../support/provider-wire.ts';

/** A failure as its provider publishes it, and what is made of it. */
interface Row {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  readonly name: string;
  readonly retryable?: boolean;
  readonly wait?: string;
}

const claude = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_body' });
const gpt = (message: string, type: string, code: string | null) => ({ error: { message, type, param: null, code } });
const google = (code: number, status: string, message: string, details: unknown[] = []) => [
  { error: { code, message, status, details } },
];

const TABLE: { readonly [type in RemoteType]?: Readonly<Record<string, Row>> } = {
  anthropic: {
    'a wrong key': {
      status: 401,
      body: claude('authentication_error', 'invalid x-api-key'),
      name: 'provider_credentials',
    },
    'a forbidden model': { status: 403, body: claude('permission_error', 'not allowed'), name: 'provider_credentials' },
    'an unknown model': { status: 404, body: claude('not_found_error', 'model: claude-9'), name: 'unknown_model' },
    'a bad request': {
      status: 400,
      body: claude('invalid_request_error', 'max_tokens: bad'),
      name: 'provider_refused_request',
    },
    'a prompt too long': {
      status: 400,
      body: claude('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
      name: 'conversation_too_long',
    },
    'a rate limit': {
      status: 429,
      body: claude('rate_limit_error', 'slow down'),
      headers: { 'retry-after': '12' },
      name: 'provider_rate_limited',
      retryable: true,
      wait: '12',
    },
    'an overload': {
      status: 529,
      body: claude('overloaded_error', 'Overloaded'),
      name: 'provider_unavailable',
      retryable: true,
    },
    'a breakdown': {
      status: 500,
      body: claude('api_error', 'Internal server error'),
      name: 'provider_unavailable',
      retryable: true,
    },
  },
  openai: {
    'a wrong key': {
      status: 401,
      body: gpt(`Incorrect API key provided: ${PLANTED_KEY}.`, 'invalid_request_error', 'invalid_api_key'),
      name: 'provider_credentials',
    },
    'an unknown model': {
      status: 404,
      body: gpt(
        'The model `gpt-9` does not exist or you do not have access to it.',
        'invalid_request_error',
        'model_not_found',
      ),
      name: 'unknown_model',
    },
    'a prompt too long': {
      status: 400,
      body: gpt(
        'Your input exceeds the context window of this model.',
        'invalid_request_error',
        'context_length_exceeded',
      ),
      name: 'conversation_too_long',
    },
    'an empty purse': {
      status: 429,
      body: gpt('You exceeded your current quota.', 'insufficient_quota', 'insufficient_quota'),
      name: 'provider_rate_limited',
    },
    'a rate limit': {
      status: 429,
      body: gpt('Rate limit reached. Please try again in 1.5s.', 'tokens', 'rate_limit_exceeded'),
      name: 'provider_rate_limited',
      retryable: true,
      wait: '1.5',
    },
    'a breakdown': {
      status: 503,
      body: gpt('The engine is overloaded', 'server_error', null),
      name: 'provider_unavailable',
      retryable: true,
    },
    'a page of a proxy': {
      status: 502,
      body: '<html><h1>Bad gateway</h1></html>',
      name: 'provider_unavailable',
      retryable: true,
    },
    'a move to another address': {
      status: 307,
      body: '',
      headers: { location: 'http://127.0.0.1:9/elsewhere' },
      name: 'provider_refused_request',
    },
  },
  google: {
    'a wrong key': {
      status: 400,
      body: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        { reason: 'API_KEY_INVALID' },
      ]),
      name: 'provider_credentials',
    },
    'an unknown model': {
      status: 404,
      body: google(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta'),
      name: 'unknown_model',
    },
    'a prompt too long': {
      status: 400,
      body: google(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      ),
      name: 'conversation_too_long',
    },
    'a rate limit': {
      status: 429,
      body: google(429, 'RESOURCE_EXHAUSTED', 'Too many.', [
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' },
      ]),
      name: 'provider_rate_limited',
      retryable: true,
      wait: '7',
    },
    'an overload': {
      status: 503,
      body: google(503, 'UNAVAILABLE', 'The model is overloaded.'),
      name: 'provider_unavailable',
      retryable: true,
    },
  },
  bedrock: {
    'a wrong key': {
      status: 403,
      body: { message: 'The security token included in the request is invalid.' },
      name: 'provider_credentials',
    },
    'an unknown model': {
      status: 404,
      body: { message: 'Could not resolve the foundation model: model not found.' },
      name: 'unknown_model',
    },
    'a prompt too long': {
      status: 400,
      body: { message: 'Input is too long for requested model.' },
      name: 'conversation_too_long',
    },
    'a rate limit': {
      status: 429,
      body: { message: 'Too many requests, please wait before trying again.' },
      name: 'provider_rate_limited',
      retryable: true,
    },
    'a model that failed': {
      status: 424,
      body: { message: 'The model failed.', originalStatusCode: 500 },
      name: 'provider_unavailable',
      retryable: true,
    },
    'a breakdown': {
      status: 503,
      body: { message: 'Service unavailable.' },
      name: 'provider_unavailable',
      retryable: true,
    },
  },
};

const REQUEST_ID: { readonly [type in RemoteType]?: string } = {
  anthropic: 'request-id',
  openai: 'x-request-id',
  google: 'x-goog-request-id',
  bedrock: 'x-amzn-requestid',
};

const rows = Object.entries(TABLE).flatMap(([type, table]) =>
  Object.entries(table).map(([what, row]) => [type as RemoteType, what, row] as const),
);

async function failureOf(type: RemoteType, { status, body, headers }: Row): Promise<Fault> {
  const named = { ...headers, [REQUEST_ID[type] ?? '']: 'req-4711' };
  const { model } = await connectModel(type, [{ status, body, headers: named }], {
    headers: { 'x-team': 'planted-header-55' },
  });
  return ask(model, requestOf([user('Go.')])).then(
    () => Promise.reject(new Error('it answered')),
    (error: unknown) => error as Fault,
  );
}

describe('the failures of a provider', () => {
  it.each(rows)('[product-provider-failures] %s: %s', async (type, _, row) => {
    const failure = await failureOf(type, row);
    expect({ name: failure.name_, retryable: failure.retryable }).toEqual({
      name: row.name,
      retryable: row.retryable ?? false,
    });
    expect(failure.additionalInfo['retry_after_seconds']).toBe(row.wait);
    expect(failure.detail).toContain(`${type} answered ${row.status}`);
    expect(failure.detail).toContain('req-4711');
    expect(failure.detail).not.toMatch(/<h1>|\{"/);
    if (row.wait !== undefined) expect(failure.detail).toContain(`It asks to wait ${row.wait} seconds`);
  });

  it('[product-provider-failures] never show a key, in whatever words a provider repeats it', async () => {
    for (const type of Object.keys(TABLE) as RemoteType[]) {
      for (const body of [
        `key ${PLANTED_KEY} is wrong`,
        { error: { message: `x ${PLANTED_KEY} planted-header-55` } },
        { message: PLANTED_KEY },
        `${'h'.repeat(ERROR_TEXT_CHARACTERS - 13)} ${PLANTED_KEY} follows`, // what is told ends inside the key
        `${'h'.repeat(1_000)} ${PLANTED_KEY.slice(0, 12)}`, // the provider was cut off inside it
      ]) {
        const failure = await failureOf(type, { status: 400, body, name: '' });
        expect(JSON.stringify([failure.detail, failure.message, failure.stack, failure.additionalInfo])).not.toMatch(
          /planted/,
        );
      }
    }
  });

  it('[product-provider-failures] a key does not follow to the address that an answer names', async () => {
    const other = await startWireProvider('messages', ['text']);
    const moved = { status: 307, body: '', headers: { location: `${other.origin}/v1/messages` } };
    const { model } = await connectModel('anthropic', [moved]);
    await expect(ask(model, requestOf([user('Go.')]))).rejects.toMatchObject({ name_: 'provider_refused_request' });
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it.each(['anthropic', 'openai', 'google', 'bedrock'] as const)(
    '[product-provider-failures] a page in place of an answer says that the address of %s is wrong',
    async type => {
      const { model } = await connectModel(type, [{ bytes: '<html>Sign in</html>', type: 'text/html' }]);
      await expect(ask(model, requestOf([user('Go.')]))).rejects.toMatchObject({
        name_: 'provider_refused_request',
        detail: expect.stringContaining('baseUrl is likely wrong') as unknown,
      });
    },
  );
});
