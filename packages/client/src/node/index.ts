export { nodeExecutors } from './executors.ts';
export type { NodeExecutorOptions } from './executors.ts';
export type { Ask, PermissionMode, PermissionQuestion } from './permission.ts';
export { answersByPermission } from './query-answers.ts';
export { openStore } from './store.ts';
export type { Store, StoredConversation } from './store.ts';
export { stateFolder } from './state-folder.ts';
