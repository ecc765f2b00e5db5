import type { Requirement } from './requirement.ts';

/** What is promised of whose key calls which model, and of what that costs. */
export const models = [
  {
    id: '§6-own-key',
    source: '§6',
    covers: 'server',
    says: 'A run with api_key_credentials is answered by the address that it brings, with its key and nothing of the operator; one without an address goes to the provider of its model.',
  },
  {
    id: '§6-own-key-azure',
    source: '§6',
    covers: 'server',
    says: 'A run with azure_credentials is answered by its deployment, with its key in api-key.',
  },
  {
    id: '§6-own-key-bedrock',
    source: '§6',
    covers: 'server',
    says: 'A run with bedrock_credentials is signed with its own keys for its own region, its session token beside, and leaves no trace of them.',
  },
  {
    id: '§6-own-key-child-and-prewarm',
    source: '§6',
    covers: 'server',
    says: 'Credentials in model_details work as those in requested_model, and those of a prewarm are dropped unused.',
  },
  {
    id: '§6-own-key-traceless',
    source: '§6',
    covers: 'server',
    says: 'No credential of a run is in any log line, error, frame, blob or file of the store, whatever the provider repeats of it.',
  },
  {
    id: 'product-credentials-policy',
    source: 'product',
    covers: 'server',
    says: 'credentials in the config allows the keys of runs, forbids them, or allows them for named hosts; a refusal names the host and what would allow it.',
  },
  {
    id: 'T19-address-policy',
    source: 'T19',
    covers: 'server',
    says: 'An address from a run may not lead to this machine, a private network, the link or a cloud’s metadata unless the config names it: as written, as resolved and as redirected to.',
  },
  {
    id: '§6-model-order',
    source: '§6',
    covers: 'server',
    says: 'The model of a run is that of requested_model, else of model_details, else the default; its effort is that of its parameters, else of variant or suffix.',
  },
  {
    id: '§6-max-mode',
    source: '§6',
    covers: 'server',
    says: 'max_mode gives a model the larger window and the longer answer that the config describes for it, and changes nothing for others.',
  },
  {
    id: 'product-unknown-parameter',
    source: 'product',
    covers: 'server',
    says: 'A parameter that a model does not have is told to the user as a notice and left out; a value that it does not have is refused with those that it has.',
  },
  {
    id: 'product-catalogue-facts',
    source: 'product',
    covers: 'server',
    says: 'The catalogue lists windows, output limits, abilities, max mode, parameters and variants, and a run accepts each of them.',
  },
  {
    id: 'product-discovery',
    source: 'product',
    covers: 'server',
    says: 'A provider is asked for its models within two seconds, again when the list is old or missing; a failed answer hides no other model, and a shipped table stands in for known providers.',
  },
  {
    id: 'product-image-limits',
    source: 'product',
    covers: 'server',
    says: 'Images that a provider would refuse by type, size or pixels are shrunk where that can be done, else replaced by a note with the reason, of which the user is told too.',
  },
  {
    id: 'product-routes',
    source: 'product',
    covers: 'server',
    says: 'A route of the config leads a conversation always to the same of its models, by weight within the best priority; the others stand in while that one fails, and the client is told which it is.',
  },
  {
    id: 'bad-named-model',
    source: 'product',
    covers: 'server',
    says: 'A route or a fallback that names a model which no provider can have is refused at start with its path; one whose provider has not told its models yet is told in a notice.',
  },
  {
    id: 'bad-provider-connection',
    source: 'product',
    covers: 'server',
    says: 'A provider that cannot be reached is told of in words with the code of the system, at start, by doctor and in a run; an unknown certificate names NODE_EXTRA_CA_CERTS.',
  },
  {
    id: 'R58-cost-of-call',
    source: 'R58',
    covers: 'server',
    says: 'A call costs each kind of token at its own price, by the tier of its whole prompt; without a price or tokens its cost is unknown, not nothing.',
  },
  {
    id: 'R58-usage-in-ledger',
    source: 'R58',
    covers: 'server',
    says: 'Usage and cost of every model call are kept for their owner alone and told by GET /v1/usage by turn, conversation, model and day.',
  },
  {
    id: 'product-budget',
    source: 'product',
    covers: 'server',
    says: 'A key whose budget is spent starts no further model call: the run ends with what was spent, until when, and its last checkpoint good.',
  },
  {
    id: 'product-usage',
    source: 'product',
    covers: 'command',
    says: 'tandem usage shows tokens and cost by day, model, conversation and turn, as a table or as JSON, and says which calls have no known price.',
  },
] as const satisfies readonly Requirement[];
