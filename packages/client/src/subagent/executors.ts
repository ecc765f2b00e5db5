import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  ForceBackgroundSubagentResultSchema,
  ForceBackgroundSubagentStatus,
  SubagentAwaitResultSchema,
  SubagentBackgroundReason,
  SubagentResultSchema,
} from '@tandem/protocol/agent';
import type { SubagentArgs, SubagentAwaitArgs } from '@tandem/protocol/agent';
import type { EndEvent } from '../event.ts';
import type { ExecContext, Executor, Executors } from '../executor.ts';
import { limits } from '../limits.ts';
import type { Child, Children, ParentRun } from './children.ts';
import { readOnlyExecutors } from './read-only.ts';

type Result = NonNullable<MessageInitShape<typeof SubagentResultSchema>['result']>;
type AwaitResult = NonNullable<MessageInitShape<typeof SubagentAwaitResultSchema>['result']>;

/** What a run can do about child runs: begin them on the same server, wait for them, and let them go on by themselves (R64). */
export function childExecutors(children: Children, parent: ParentRun): Executors {
  const begin: Executor<'subagentArgs'> = {
    kind: 'subagentArgs',
    // A child has deadlines of its own.
    deadlineMs: null,
    async run(args, context) {
      const result = await runChild(children, parent, args, context);
      return { case: 'subagentResult', value: create(SubagentResultSchema, { result }) };
    },
  };
  const wait: Executor<'subagentAwaitArgs'> = {
    kind: 'subagentAwaitArgs',
    deadlineMs: null,
    async run(args, { signal }) {
      const result = await awaitChild(children, args, signal);
      return { case: 'subagentAwaitResult', value: create(SubagentAwaitResultSchema, { result }) };
    },
  };
  const force: Executor<'forceBackgroundSubagentArgs'> = {
    kind: 'forceBackgroundSubagentArgs',
    run({ toolCallId }) {
      const child = children.waitedFor(toolCallId);
      child?.toBackground?.();
      const status =
        child === undefined ? ForceBackgroundSubagentStatus.NOT_FOUND : ForceBackgroundSubagentStatus.ACCEPTED;
      const value = create(ForceBackgroundSubagentResultSchema, { status });
      return Promise.resolve({ case: 'forceBackgroundSubagentResult', value });
    },
  };
  return [begin, wait, force];
}

async function runChild(
  children: Children,
  parent: ParentRun,
  args: SubagentArgs,
  { signal, requestId }: ExecContext,
): Promise<Result> {
  const refuse = (error: string): Result => ({ case: 'error', value: { error } });
  if (parent.depth >= limits.childDepth) return refuse(`child runs are nested ${limits.childDepth} deep already`);
  if (children.underWay >= limits.childrenAtOnce)
    return refuse(`${limits.childrenAtOnce} child runs are under way already`);
  const resumes = args.resumeAgentId ?? '';
  const former = resumes === '' ? undefined : children.get(resumes);
  if (resumes !== '' && former === undefined) return refuse(`there is no child run ${resumes} to resume`);
  if (former !== undefined && former.end === undefined) {
    if (args.interrupt !== true) return refuse(`the child run ${resumes} is still under way`);
    former.run.cancel('interrupted by its parent');
    await former.run.done;
  }
  const state = former?.run.state;
  const group = args.rootParentConversationId || args.parentConversationId || parent.conversationId;
  const run = parent.begin(
    {
      subagentTypeName: args.subagentType,
      conversationGroupId: group,
      modelDetails: modelOf(args),
      selectedContext: args.selectedContext,
      parentRequestId: requestId,
      toolCallId: args.toolCallId,
    },
    {
      prompt: args.prompt,
      ...(former === undefined ? {} : { conversationId: former.id }),
      ...(state === undefined ? {} : { state }),
    },
    args.readonly ? readOnlyExecutors(parent.executors) : parent.executors,
  );
  const child = children.add(run, args.toolCallId, event => parent.report(args.toolCallId, event));
  if (args.runInBackground === true) return inBackground(child, SubagentBackgroundReason.AGENT_REQUEST);
  return await waitFor(child, signal);
}

/** Until the child's end, or until it is sent to the background. An abort ends the child with its parent's call. */
async function waitFor(child: Child, signal: AbortSignal): Promise<Result> {
  const onAbort = () => child.run.cancel('aborted by the parent run');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const sent = new Promise<undefined>(resolve => (child.toBackground = () => resolve(undefined)));
  const end = await Promise.race([child.run.done, sent]);
  delete child.toBackground;
  signal.removeEventListener('abort', onAbort);
  return end === undefined ? inBackground(child, SubagentBackgroundReason.USER_REQUEST) : resultOf(child, end);
}

function resultOf(child: Child, end: EndEvent): Result {
  const agentId = child.id;
  if (end.outcome === 'ended')
    return { case: 'success', value: { agentId, finalMessage: end.text, toolCallCount: child.toolCalls } };
  return { case: 'error', value: { agentId, error: errorOf(end) } };
}

function errorOf(end: EndEvent): string {
  return end.error === undefined ? 'the child run was cancelled' : `[${end.error.code}] ${end.error.message}`;
}

function inBackground(child: Child, backgroundReason: SubagentBackgroundReason): Result {
  return { case: 'success', value: { agentId: child.id, toolCallCount: child.toolCalls, backgroundReason } };
}

async function awaitChild(children: Children, args: SubagentAwaitArgs, signal: AbortSignal): Promise<AwaitResult> {
  const { agentId, timeoutMs } = args;
  const child = children.get(agentId);
  if (child === undefined) return { case: 'notFound', value: { agentId } };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), Math.min(timeoutMs, 0x7fffffff));
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const end = await Promise.race([child.run.done, late]);
  clearTimeout(timer);
  signal.throwIfAborted();
  if (end === undefined) return { case: 'stillRunning', value: { agentId } };
  if (end.outcome !== 'ended') return { case: 'error', value: { agentId, error: errorOf(end) } };
  return { case: 'complete', value: { agentId, toolCallCount: child.toolCalls, finalMessage: end.text } };
}

function modelOf(args: SubagentArgs) {
  const { modelId, credentials } = args;
  if (modelId === '') return { credentials };
  return { modelId, displayModelId: modelId, displayName: modelId, credentials };
}
