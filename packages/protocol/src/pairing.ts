import type {
  ExecClientMessage,
  ExecServerMessage,
  InteractionQuery,
  InteractionResponse,
  KvClientMessage,
  KvServerMessage,
} from '../gen/agent/v1/schema_pb.js';

/** What the server may ask by exec, by the name of its branch. §17.2 */
export type ExecQuestion = NonNullable<ExecServerMessage['message']['case']>;
/** What the client may answer to an exec, by the name of its branch. §10.2 */
export type ExecAnswer = NonNullable<ExecClientMessage['message']['case']>;
/** What the server may ask of a person. §19.2 */
export type QueryQuestion = NonNullable<InteractionQuery['query']['case']>;
/** What a person or the client may answer. §12 */
export type QueryAnswer = NonNullable<InteractionResponse['result']['case']>;
/** What the server may ask of the blob store. §20 */
export type KvQuestion = NonNullable<KvServerMessage['message']['case']>;
/** What the blob store may answer. §13 */
export type KvAnswer = NonNullable<KvClientMessage['message']['case']>;

/** Which result answers which execution (§17.3, R28). The same id is not enough. */
export const execAnswers = {
  shellArgs: 'shellResult',
  writeArgs: 'writeResult',
  deleteArgs: 'deleteResult',
  grepArgs: 'grepResult',
  readArgs: 'readResult',
  lsArgs: 'lsResult',
  diagnosticsArgs: 'diagnosticsResult',
  requestContextArgs: 'requestContextResult',
  mcpArgs: 'mcpResult',
  shellStreamArgs: 'shellStream',
  backgroundShellSpawnArgs: 'backgroundShellSpawnResult',
  listMcpResourcesExecArgs: 'listMcpResourcesExecResult',
  readMcpResourceExecArgs: 'readMcpResourceExecResult',
  fetchArgs: 'fetchResult',
  recordScreenArgs: 'recordScreenResult',
  computerUseArgs: 'computerUseResult',
  writeShellStdinArgs: 'writeShellStdinResult',
  executeHookArgs: 'executeHookResult',
  subagentArgs: 'subagentResult',
  redactedReadArgs: 'redactedReadResult',
  forceBackgroundShellArgs: 'forceBackgroundShellResult',
  forceBackgroundSubagentArgs: 'forceBackgroundSubagentResult',
  mcpStateExecArgs: 'mcpStateExecResult',
  subagentAwaitArgs: 'subagentAwaitResult',
  smartModeClassifierArgs: 'smartModeClassifierResult',
  canvasDiagnosticsArgs: 'canvasDiagnosticsResult',
  shellAllowlistPrecheckArgs: 'shellAllowlistPrecheckResult',
  mcpAllowlistPrecheckArgs: 'mcpAllowlistPrecheckResult',
  webFetchAllowlistPrecheckArgs: 'webFetchAllowlistPrecheckResult',
  gitDiffRequest: 'gitDiffResponse',
  piReadArgs: 'piReadResult',
  piBashArgs: 'piBashResult',
  piEditArgs: 'piEditResult',
  piWriteArgs: 'piWriteResult',
  piGrepArgs: 'piGrepResult',
  piFindArgs: 'piFindResult',
  piLsArgs: 'piLsResult',
  miniSweAgentBashArgs: 'miniSweAgentBashResult',
  conversationSearchArgs: 'conversationSearchResult',
  agentStoreConflictArgs: 'agentStoreConflictResult',
  adoptArgs: 'adoptResult',
} as const satisfies Record<ExecQuestion, ExecAnswer>;

/** Which response answers which query (§19.3). */
export const queryAnswers = {
  webSearchRequestQuery: 'webSearchRequestResponse',
  askQuestionInteractionQuery: 'askQuestionInteractionResponse',
  switchModeRequestQuery: 'switchModeRequestResponse',
  createPlanRequestQuery: 'createPlanRequestResponse',
  setupVmEnvironmentArgs: 'setupVmEnvironmentResult',
  webFetchRequestQuery: 'webFetchRequestResponse',
  prManagementRequestQuery: 'prManagementResult',
  mcpAuthRequestQuery: 'mcpAuthRequestResponse',
  generateImageRequestQuery: 'generateImageRequestResponse',
  replaceEnvArgs: 'replaceEnvResult',
  connectScmRequestQuery: 'connectScmRequestResponse',
} as const satisfies Record<QueryQuestion, QueryAnswer>;

/** Which result answers which blob operation (§22.4). */
export const kvAnswers = {
  getBlobArgs: 'getBlobResult',
  setBlobArgs: 'setBlobResult',
} as const satisfies Record<KvQuestion, KvAnswer>;

/** Whether a result of this branch answers an execution of that one (R28). An unset oneof answers nothing. */
export function fitsExec(question: ExecQuestion, answer: ExecAnswer | undefined): boolean {
  return execAnswers[question] === answer;
}

/** Whether a response of this branch answers a query of that one (§19.3). */
export function fitsQuery(question: QueryQuestion, answer: QueryAnswer | undefined): boolean {
  return queryAnswers[question] === answer;
}

/** Whether a result of this branch answers a blob operation of that one (§22.4). */
export function fitsKv(question: KvQuestion, answer: KvAnswer | undefined): boolean {
  return kvAnswers[question] === answer;
}
