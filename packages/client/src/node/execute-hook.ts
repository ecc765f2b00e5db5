import { create, fromJson, toJson } from '@bufbuild/protobuf';
import type { DescMessage, JsonObject, JsonValue, Message } from '@bufbuild/protobuf';
import { ExecuteHookRequestSchema, ExecuteHookResponseSchema, ExecuteHookResultSchema } from '@tandem/protocol/agent';
import type { ExecuteHookArgs, ExecuteHookResponse } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../executor.ts';
import { readHooks } from './hooks-file.ts';
import type { Hook } from './hooks-file.ts';
import type { Machine } from './machine.ts';
import { runProgram } from './program.ts';
import { shellPath } from './shell-process.ts';
import { messageOf } from './workspace.ts';

/** Longest answer of a hook, in characters. */
const ANSWER_CAP = 1024 * 1024;

/** The exit code with which a hook refuses; its words are on standard error. */
const REFUSED = 2;

/**
 * Runs the workspace's hooks for one step (§10.2). Each gets the step's facts as JSON on its input and may answer with JSON on its output. The
 * first that refuses decides; what they add for the model is joined. A hook is a command: it needs the leave that any command does.
 */
export function executeHookExecutor(machine: Machine): Executor<'executeHookArgs'> {
  return {
    kind: 'executeHookArgs',
    deadlineMs: null,
    async run(args, { signal }): Promise<ExecAnswer> {
      const response = await runHooks(machine, args, signal);
      return { case: 'executeHookResult', value: create(ExecuteHookResultSchema, { response }) };
    },
  };
}

async function runHooks(
  machine: Machine,
  { request }: ExecuteHookArgs,
  signal: AbortSignal,
): Promise<ExecuteHookResponse> {
  const step = request?.request.case;
  const query = schemaOf(ExecuteHookRequestSchema, step);
  const reply = schemaOf(ExecuteHookResponseSchema, step);
  if (request === undefined || step === undefined || query === undefined || reply === undefined)
    throw new Error('the hook that is asked for is of a kind that is not known here');
  const facts = toJson(query, request.request.value as Message, { useProtoFieldName: true }) as JsonObject;
  const hooks = (await readHooks(machine.workspace.root)).get(step) ?? [];
  if (hooks.length === 0) throw new Error(`this workspace has no hook for ${step}`);
  const input = { ...facts, hook_event_name: step, workspace_roots: [machine.workspace.root] };
  const toolName = typeof facts['tool_name'] === 'string' ? facts['tool_name'] : undefined;
  const answers: JsonObject[] = [];
  for (const hook of hooks) {
    if (hook.matcher !== undefined && toolName !== undefined && !hook.matcher.test(toolName)) continue;
    const answer = await runHook(machine, hook, JSON.stringify(input), signal);
    answers.push(answer);
    if (isRefusal(answer)) break;
  }
  const value = fromJson(reply, merge(answers), { ignoreUnknownFields: true });
  return create(ExecuteHookResponseSchema, { response: { case: step, value } as ExecuteHookResponse['response'] });
}

function schemaOf(schema: DescMessage, branch: string | undefined): DescMessage | undefined {
  return schema.fields.find(field => field.localName === branch)?.message;
}

async function runHook(machine: Machine, hook: Hook, input: string, signal: AbortSignal): Promise<JsonObject> {
  const { root } = machine.workspace;
  const verdict = await machine.permission.run({
    command: hook.command,
    workingDirectory: root,
    inside: true,
    denied: [],
    signal,
  });
  if (!verdict.allowed) throw new Error(`the hook was not run: ${verdict.reason}`);
  try {
    const { code, stdout, stderr } = await runProgram({
      file: shellPath(),
      args: ['-c', hook.command],
      cwd: root,
      env: machine.env,
      input,
      signal,
      deadlineMs: hook.timeoutMs,
      maxCharacters: ANSWER_CAP,
    });
    if (code === REFUSED)
      return { permission: 'deny', continue: false, agent_message: stderr.trim(), user_message: stderr.trim() };
    if (code !== 0) throw new Error(`it ended with exit code ${code}: ${stderr.trim().slice(0, 500)}`);
    if (stdout.trim() === '') return {};
    const answer: unknown = JSON.parse(stdout);
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
      throw new Error('its answer is no JSON object');
    return answer as JsonObject;
  } catch (error) {
    signal.throwIfAborted();
    if (!hook.failClosed) return {};
    const words = `the hook ${hook.command} failed: ${messageOf(error)}`;
    return { permission: 'deny', continue: false, agent_message: words, user_message: words };
  }
}

function isRefusal(answer: JsonObject): boolean {
  return answer['permission'] === 'deny' || answer['continue'] === false;
}

/** Later answers win, but for what they add for the model, which is joined; a refusal, always the last, keeps its words. */
function merge(answers: readonly JsonObject[]): JsonValue {
  const merged: JsonObject = Object.assign({}, ...answers);
  for (const key of ['additional_context', 'additionalContext']) {
    const texts = answers.flatMap(({ [key]: text }) => (typeof text === 'string' && text !== '' ? [text] : []));
    if (texts.length > 0) merged[key] = texts.join('\n\n');
  }
  // Some hooks answer with a value where the step takes a text.
  if (typeof merged['updated_input'] === 'object') merged['updated_input'] = JSON.stringify(merged['updated_input']);
  return merged;
}
