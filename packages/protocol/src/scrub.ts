import { clone } from '@bufbuild/protobuf';
import type { DescField, DescMessage, Message, MessageShape } from '@bufbuild/protobuf';

/** What stands where a credential stood. */
export const REDACTED = '[redacted]';

/**
 * Fields that are a credential, or open something without one (§6.2). All hold text.
 * The url of a signed upload needs no other key; a snapshot token is the key to a plugin's content.
 */
const secretFields: ReadonlySet<string> = new Set([
  'agent.v1.ApiKeyCredentials.api_key',
  'agent.v1.AzureCredentials.api_key',
  'agent.v1.BedrockCredentials.access_key',
  'agent.v1.BedrockCredentials.secret_key',
  'agent.v1.BedrockCredentials.session_token',
  'agent.v1.ClientLlmGatewayCredential.bearer_token',
  'agent.v1.RepositoryIndexingInfo.path_encryption_key',
  'agent.v1.CustomModeDescriptor.plugin_snapshot_token',
  'agent.v1.SubmittedCustomMode.plugin_snapshot_token',
  'agent.v1.SelectedPluginCapabilityRef.snapshot_token',
  'agent.v1.ReplaceEnvToolCall.associated_pod_key',
  'agent.v1.ReplaceEnvToolCallDelta.associated_pod_key',
  'agent.v1.SelectedVideo.SignedUrl.url',
  'agent.v1.GetSignedUrlForAttachedMediaResponse.post_url',
  'agent.v1.GetSignedUrlForAttachedMediaResponse.get_url',
  'agent.v1.GetSignedUrlForAttachedMediaResponse.put_url',
  'agent.v1.GetSignedUrlForAttachedMediaResponse.post_fields',
]);

/** User and password in an address, as remote urls of git repositories carry them. */
const userInfo = /(\b[a-z][a-z0-9+.-]*:\/\/)[^/?#\s@]+@/gi;

/** Whether a field holds a credential. */
export function isSecretField(field: DescField): boolean {
  return secretFields.has(`${field.parent.typeName}.${field.name}`);
}

/** A text of a field that is no secret itself: an address loses the user and the password in it. */
export function scrubText(field: DescField, text: string): string {
  return /(^|_)ur[li]s?$/.test(field.name) ? text.replace(userInfo, `$1${REDACTED}@`) : text;
}

/**
 * A deep copy of a message without its credentials (§6.2). Fields that are not set stay unset. Unknown fields are left
 * out, since nobody can say what is in them.
 */
export function scrub<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): MessageShape<Desc> {
  const copy = clone(schema, message);
  scrubMessage(schema, copy);
  return copy;
}

function scrubMessage(schema: DescMessage, message: Message): void {
  delete message.$unknown;
  for (const field of schema.fields) scrubField(field, message as Message & Record<string, unknown>);
}

/** The members of a oneof live in an object of their own, `{ case, value }`; all other fields in the message. */
function scrubField(field: DescField, message: Record<string, unknown>): void {
  let holder = message;
  let key = field.localName;
  if (field.oneof !== undefined) {
    holder = message[field.oneof.localName] as Record<string, unknown>;
    if (holder['case'] !== field.localName) return;
    key = 'value';
  }
  const value = holder[key];
  if (value !== undefined) holder[key] = scrubValue(field, value);
}

function scrubValue(field: DescField, value: unknown): unknown {
  if (field.fieldKind === 'list') return (value as unknown[]).map(item => scrubItem(field, item));
  if (field.fieldKind === 'map') {
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(entries.map(([name, item]) => [name, scrubItem(field, item)]));
  }
  return scrubItem(field, value);
}

function scrubItem(field: DescField, item: unknown): unknown {
  // A Struct is a plain object here and has no fields of ours.
  if (field.message !== undefined) {
    if (field.message.typeName !== 'google.protobuf.Struct') scrubMessage(field.message, item as Message);
    return item;
  }
  if (typeof item !== 'string' || item === '') return item;
  return isSecretField(field) ? REDACTED : scrubText(field, item);
}
