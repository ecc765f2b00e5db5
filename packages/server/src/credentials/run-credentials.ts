import type { AgentRunRequest, ModelDetails, PrewarmRequest, RequestedModel } from '@tandem/protocol/agent';
import { Secret } from '../config/secret.ts';

/**
 * Credentials that one request brings for its own model calls (§6). Addresses are secrets too: some gateways put the key into
 * the path.
 */
export type RunCredentials =
  | { readonly kind: 'api-key'; readonly apiKey: Secret | undefined; readonly baseUrl: Secret | undefined }
  | { readonly kind: 'azure'; readonly apiKey: Secret; readonly baseUrl: Secret; readonly deployment: string }
  | {
      readonly kind: 'bedrock';
      readonly accessKey: Secret;
      readonly secretKey: Secret;
      readonly region: string;
      readonly sessionToken: Secret | undefined;
    };

type Carrier = Pick<RequestedModel | ModelDetails, 'credentials'>;

/**
 * Takes the credentials out of a request, so that nobody who holds the request afterwards can keep, log or send them:
 * `requested_model` over `model_details`, as for the model itself. Those of models for subagents are taken out and dropped: a
 * child brings its own with its own request (R64). What is empty counts as absent.
 */
export function takeCredentials(request: AgentRunRequest | PrewarmRequest): RunCredentials | undefined {
  const { requestedModel, modelDetails } = request;
  const found = (requestedModel && read(requestedModel)) ?? (modelDetails && read(modelDetails));
  for (const carrier of [requestedModel, modelDetails]) if (carrier) clear(carrier);
  for (const carrier of request.selectedSubagentModels) clear(carrier);
  for (const carrier of request.selectedSubagentModelDetails) clear(carrier);
  for (const { selection } of request.subagentModelOverrides) if (selection.case === 'model') clear(selection.value);
  request.clientLlmGatewayCredential = undefined;
  return found;
}

function clear(carrier: Carrier): void {
  carrier.credentials = { case: undefined };
}

function read({ credentials }: Carrier): RunCredentials | undefined {
  switch (credentials.case) {
    case 'apiKeyCredentials': {
      const { apiKey, baseUrl } = credentials.value;
      if (isEmpty(apiKey, baseUrl)) return undefined;
      return { kind: 'api-key', apiKey: secretOf(apiKey), baseUrl: secretOf(baseUrl) };
    }
    case 'azureCredentials': {
      const { apiKey, baseUrl, deployment } = credentials.value;
      if (isEmpty(apiKey, baseUrl, deployment)) return undefined;
      return {
        kind: 'azure',
        apiKey: new Secret(apiKey.trim()),
        baseUrl: new Secret(baseUrl.trim()),
        deployment: deployment.trim(),
      };
    }
    case 'bedrockCredentials': {
      const { accessKey, secretKey, region, sessionToken } = credentials.value;
      if (isEmpty(accessKey, secretKey, region, sessionToken)) return undefined;
      return {
        kind: 'bedrock',
        accessKey: new Secret(accessKey.trim()),
        secretKey: new Secret(secretKey.trim()),
        region: region.trim(),
        sessionToken: secretOf(sessionToken),
      };
    }
    case undefined:
      return undefined;
  }
}

const isEmpty = (...texts: readonly (string | undefined)[]) => texts.every(text => !text?.trim());
const secretOf = (text: string | undefined) => (text?.trim() ? new Secret(text.trim()) : undefined);

/** Every text of credentials that may stand in no answer, log or error, in the spellings in which others repeat it. */
export function secretTexts(credentials: RunCredentials): string[] {
  switch (credentials.kind) {
    case 'api-key':
      return [...spellings(credentials.apiKey), ...secretsOfAddress(credentials.baseUrl)];
    case 'azure':
      return [...spellings(credentials.apiKey), ...secretsOfAddress(credentials.baseUrl)];
    case 'bedrock':
      return [credentials.accessKey, credentials.secretKey, credentials.sessionToken].flatMap(spellings);
  }
}

function spellings(secret: Secret | undefined): string[] {
  if (!secret) return [];
  const text = secret.reveal();
  const bytes = Buffer.from(text, 'utf8');
  const json = JSON.stringify(text).slice(1, -1);
  return [...new Set([text, encodeURIComponent(text), json, bytes.toString('base64'), bytes.toString('base64url')])];
}

/** A path segment this long is no name that a person gave: it is somebody's key. */
const KEY_CHARACTERS = 16;

function secretsOfAddress(address: Secret | undefined): string[] {
  const text = address?.reveal() ?? '';
  if (!URL.canParse(text)) return [];
  const segments = new URL(text).pathname.split('/').filter(segment => segment.length >= KEY_CHARACTERS);
  return segments.flatMap(segment => spellings(new Secret(segment)));
}
