import type { AnyExecutor, ExecAnswer, Executors } from '../executor.ts';
import { hasSideEffect } from '../executor.ts';

const REASON = 'this child run is read-only';

/** Executors for a run that may only look: those that change something refuse, each in the words of its own result; the rest stay. */
export function readOnlyExecutors(executors: Executors): Executors {
  return executors.map(executor => {
    if (!hasSideEffect(executor.kind) || STAYS.has(executor.kind)) return executor;
    return {
      kind: executor.kind,
      run: (args: unknown) => Promise.resolve(refusal(executor.kind, args)),
    } as AnyExecutor;
  });
}

/** Kinds that end or direct something and change no file. */
const STAYS: ReadonlySet<AnyExecutor['kind']> = new Set<AnyExecutor['kind']>([
  'subagentArgs',
  'subagentAwaitArgs',
  'forceBackgroundSubagentArgs',
  'fetchArgs',
  'readMcpResourceExecArgs',
]);

function refusal(kind: AnyExecutor['kind'], args: unknown): ExecAnswer {
  const { path = '', command = '', workingDirectory = '' } = args as Partial<Record<string, string>>;
  const shell = { command, workingDirectory, error: REASON, isReadonly: true };
  const denied = (value: object) => ({ result: { case: 'permissionDenied', value } });
  const error = (value: object) => ({ result: { case: 'error', value } });
  const answers: Partial<Record<AnyExecutor['kind'], { case: ExecAnswer['case']; value: object }>> = {
    writeArgs: { case: 'writeResult', value: denied({ path, operation: 'write', error: REASON, isReadonly: true }) },
    deleteArgs: { case: 'deleteResult', value: denied({ path, clientVisibleError: REASON, isReadonly: true }) },
    shellArgs: { case: 'shellResult', value: denied(shell) },
    shellStreamArgs: { case: 'shellStream', value: { event: { case: 'permissionDenied', value: shell } } },
    backgroundShellSpawnArgs: { case: 'backgroundShellSpawnResult', value: denied(shell) },
    mcpArgs: { case: 'mcpResult', value: denied({ error: REASON, isReadonly: true }) },
    piWriteArgs: { case: 'piWriteResult', value: { result: { case: 'rejected', value: { reason: REASON } } } },
    piEditArgs: { case: 'piEditResult', value: { result: { case: 'rejected', value: { reason: REASON } } } },
    piBashArgs: { case: 'piBashResult', value: error({ error: REASON }) },
  };
  const answer = answers[kind];
  // A kind without a refusal of its own is answered with a throw.
  if (answer === undefined) throw new Error(REASON);
  return answer as ExecAnswer;
}
