import { create, toJsonString } from '@bufbuild/protobuf';
import type { DescField } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import * as agent from './agent.ts';
import { isSecretField, scrub } from './scrub.ts';
import { messageSchemas } from './schema.ts';

const textFields = [...messageSchemas.values()]
  .flatMap(message => message.fields)
  .filter(field => field.message === undefined && field.enum === undefined);

const nameOf = (field: DescField) => `${field.parent.typeName}.${field.name}`;

/** Fields whose name sounds like a credential, and which are none. */
const harmless = new Set([
  // keyboards
  'agent.v1.ClickAction.modifier_keys',
  'agent.v1.DragAction.modifier_keys',
  'agent.v1.ScrollAction.modifier_keys',
  'agent.v1.KeyAction.key',
  // labels, and the names of uploads and checks
  'agent.v1.SelfHostedWorkerLabel.key',
  'agent.v1.SelectedVideo.SignedUrl.key',
  'agent.v1.GetSignedUrlForAttachedMediaRequest.key',
  'agent.v1.GetSignedUrlForAttachedMediaResponse.key',
  'agent.v1.RecordCiInvestigationOverall.check_keys',
  'agent.v1.MatchedInstalledPlugin.matched_keyword',
  // words of a command line
  'agent.v1.CommandClassifierResult.ClassifiedCommand.subcommand_tokens',
  // names of a scope and of a switch
  'agent.v1.ShellArgs.secret_scope_id',
  'agent.v1.BackgroundShellSpawnArgs.secret_scope_id',
  'agent.v1.RequestContextEnv.secret_redaction_enabled',
  // markers of a test mode
  'agent.v1.RequestContextEnv.dev_force_next_smart_mode_classifier_block_token',
  'agent.v1.RequestContextEnv.dev_delay_next_smart_mode_classifier_token',
  // counts of tokens and of times
  'agent.v1.TtftBreakdown.server_first_token_ms',
]);

describe('secret fields', () => {
  it('[§6.2-credentials-scrubbed] are listed, or listed as harmless, for every name that sounds like a credential', () => {
    const sounds = /key|token|secret|password|credential|bearer/;
    const counts = /(^|_)tokens$/;
    const open = textFields
      .filter(field => sounds.test(field.name) && !(counts.test(field.name) && field.scalar !== 9))
      .filter(field => !isSecretField(field) && !harmless.has(nameOf(field)))
      .map(nameOf);
    expect(open).toEqual([]);
  });

  it('are all in the schema, and the harmless ones too', () => {
    const names = new Set(textFields.map(nameOf));
    expect([...harmless].filter(name => !names.has(name))).toEqual([]);
    expect(textFields.filter(isSecretField)).toHaveLength(17);
  });

  it('include every text of the credential messages but address, deployment and region', () => {
    const open = textFields
      .filter(field => /Credentials?$/.test(field.parent.typeName) && !isSecretField(field))
      .map(field => field.name);
    expect(new Set(open)).toEqual(new Set(['base_url', 'deployment', 'region']));
  });
});

describe('scrub', () => {
  it('[§6.2-credentials-scrubbed] redacts credentials at any depth and leaves the message alone', () => {
    const run = create(agent.AgentClientMessageSchema, {
      message: {
        case: 'runRequest',
        value: {
          requestedModel: {
            modelId: 'm',
            credentials: { case: 'apiKeyCredentials', value: { apiKey: 'sk-1', baseUrl: 'https://u:sk-2@host/v1' } },
          },
          selectedSubagentModels: [
            {
              credentials: {
                case: 'bedrockCredentials',
                value: { accessKey: 'sk-3', secretKey: 'sk-4', region: 'eu' },
              },
            },
          ],
          clientLlmGatewayCredential: { bearerToken: 'sk-5' },
        },
      },
    });
    const text = toJsonString(agent.AgentClientMessageSchema, scrub(agent.AgentClientMessageSchema, run));
    expect(text).not.toMatch(/sk-\d/);
    expect(text).toContain('"apiKey":"[redacted]"');
    expect(text).toContain('"baseUrl":"https://[redacted]@host/v1"');
    expect(text).toContain('"region":"eu"');
    expect(text).not.toContain('sessionToken');
    expect(toJsonString(agent.AgentClientMessageSchema, run)).toContain('sk-1');
  });

  it('redacts the values of a map', () => {
    const answer = create(agent.GetSignedUrlForAttachedMediaResponseSchema, { postFields: { policy: 'sk-1' } });
    const copy = scrub(agent.GetSignedUrlForAttachedMediaResponseSchema, answer);
    expect(copy.postFields).toEqual({ policy: '[redacted]' });
  });

  it('drops unknown fields, whose content nobody knows', () => {
    const model = create(agent.RequestedModelSchema, { modelId: 'm' });
    model.$unknown = [{ no: 99, wireType: 2, data: Uint8Array.of(1, 0x78) }];
    expect(scrub(agent.RequestedModelSchema, model).$unknown).toBeUndefined();
    expect(model.$unknown).toHaveLength(1);
  });
});
