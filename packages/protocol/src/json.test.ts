import { create, fromBinary } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import {
  AgentClientMessageSchema,
  AgentMode,
  AgentServerMessageSchema,
  KvServerMessageSchema,
  McpSuccessSchema,
  McpToolDefinitionSchema,
  ModelDetailsSchema,
  RequestContextEnvSchema,
  RequestedModelSchema,
  TurnEndedUpdateSchema,
  UserMessageSchema,
} from './agent.ts';
import { toWireJson } from './json.ts';

it('shows a heartbeat as the reference does (§1.2)', () => {
  const message = fromBinary(AgentServerMessageSchema, Uint8Array.of(0x0a, 0x02, 0x6a, 0x00));
  expect(toWireJson(AgentServerMessageSchema, message)).toEqual({ interaction_update: { heartbeat: {} } });
});

it('shows what is set and nothing else: an optional default stands, an implicit one does not (§23)', () => {
  expect(toWireJson(ModelDetailsSchema, create(ModelDetailsSchema, { modelId: '', maxMode: false }))).toEqual({
    max_mode: false,
  });
  expect(toWireJson(KvServerMessageSchema, create(KvServerMessageSchema, { id: 0 }))).toEqual({});
});

it('shows enums by name and unknown ones by number', () => {
  const shown = (mode: number) => toWireJson(UserMessageSchema, create(UserMessageSchema, { mode }));
  expect(shown(AgentMode.PLAN)).toEqual({ mode: 'AGENT_MODE_PLAN' });
  expect(shown(77)).toEqual({ mode: 77 });
});

it('shows 64-bit numbers as numbers where they are exact, else as text', () => {
  const update = create(TurnEndedUpdateSchema, { inputTokens: 12n, outputTokens: 2n ** 53n });
  expect(toWireJson(TurnEndedUpdateSchema, update)).toEqual({ input_tokens: 12, output_tokens: '9007199254740992' });
});

it('cuts base64 at 64 characters and says how many bytes there are, unless asked for all', () => {
  const set = (size: number) =>
    create(KvServerMessageSchema, {
      id: 1,
      message: { case: 'setBlobArgs', value: { blobId: Uint8Array.of(1, 2, 3), blobData: new Uint8Array(size) } },
    });
  const shown = (size: number, full = false) =>
    (
      toWireJson(KvServerMessageSchema, set(size), { full }) as {
        set_blob_args: { blob_id: string; blob_data: string };
      }
    ).set_blob_args;
  expect(shown(48)).toEqual({ blob_id: 'AQID', blob_data: 'A'.repeat(64) });
  expect(shown(49).blob_data).toBe(`${'A'.repeat(64)}… (49 bytes)`);
  expect(shown(49, true).blob_data).toBe(`${'A'.repeat(66)}==`);
});

it('redacts credentials, and the password in an address', () => {
  const model = create(RequestedModelSchema, {
    modelId: 'm',
    credentials: { case: 'azureCredentials', value: { apiKey: 'sk-1', baseUrl: 'https://me:pw@h/', deployment: 'd' } },
  });
  expect(toWireJson(RequestedModelSchema, model)).toEqual({
    model_id: 'm',
    azure_credentials: { api_key: '[redacted]', base_url: 'https://[redacted]@h/', deployment: 'd' },
  });
});

it('mentions fields that the schema does not know, where they are', () => {
  // client_heartbeat { 1000: 7, 1000: 7 }
  const message = fromBinary(AgentClientMessageSchema, Uint8Array.of(0x3a, 6, 0xc0, 0x3e, 7, 0xc0, 0x3e, 7));
  expect(toWireJson(AgentClientMessageSchema, message)).toEqual({ client_heartbeat: { $unknown: [1000] } });
});

it('keeps the JSON types of Struct and Value (R60)', () => {
  const success = create(McpSuccessSchema, { structuredContent: { id: '00123', n: 3, list: [null, true] } });
  expect(toWireJson(McpSuccessSchema, success)).toEqual({
    structured_content: { id: '00123', n: 3, list: [null, true] },
  });
  const tool = create(McpToolDefinitionSchema, {
    inputSchema: create(ValueSchema, {
      kind: {
        case: 'structValue',
        value: {
          fields: {
            type: { kind: { case: 'stringValue', value: 'object' } },
            __proto__x: { kind: { case: 'numberValue', value: Number.NaN } },
            none: {},
          },
        },
      },
    }),
  });
  expect(toWireJson(McpToolDefinitionSchema, tool)).toEqual({
    input_schema: { type: 'object', __proto__x: 'NaN', none: null },
  });
});

it('shows a time, and one beyond all calendars, without throwing', () => {
  const shown = (seconds: bigint) =>
    toWireJson(RequestContextEnvSchema, create(RequestContextEnvSchema, { devMockPromptTime: { seconds } }));
  expect(shown(0n)).toEqual({ dev_mock_prompt_time: '1970-01-01T00:00:00.000Z' });
  expect(shown(2n ** 62n)).toEqual({ dev_mock_prompt_time: '4611686018427387904 s' });
});
