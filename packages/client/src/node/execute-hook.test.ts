import { fromJson } from '@bufbuild/protobuf';
import type { JsonValue } from '@bufbuild/protobuf';
import { ExecuteHookArgsSchema } from '@tandem/protocol/agent';
import type { ExecuteHookResult } from '@tandem/protocol/agent';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeMachine, runExecutor } from '../../test/machine.ts';
import { executeHookExecutor } from './execute-hook.ts';
import type { Machine } from './machine.ts';

function withHooks(hooks: object, options: Parameters<typeof makeMachine>[1] = {}) {
  return makeMachine({ '.cursor/hooks.json': JSON.stringify({ version: 1, hooks }) }, options);
}
async function run(machine: Machine, request: JsonValue) {
  const args = fromJson(ExecuteHookArgsSchema, { request });
  const [answer] = await runExecutor(executeHookExecutor(machine), ExecuteHookArgsSchema, args);
  return (answer!.value as ExecuteHookResult).response?.response;
}
const TOOL = { preToolUse: { toolName: 'Shell', toolInput: { command: 'ls' }, toolUseId: 'u' } };

it('[§10.2-execute-hook] gives a hook the facts of its step, and its answer to the server', async () => {
  const answer = '{"permission":"allow","updated_input":{"command":"ls -a"},"additional_context":"note"}';
  const { machine, file, root } = withHooks({ preToolUse: [{ command: `cat > seen.json; echo '${answer}'` }] });
  expect(await run(machine, TOOL)).toMatchObject({
    case: 'preToolUse',
    value: { permission: 'allow', updatedInput: '{"command":"ls -a"}', additionalContext: 'note' },
  });
  expect(JSON.parse(readFileSync(file('seen.json'), 'utf8'))).toEqual({
    tool_name: 'Shell',
    tool_input: { command: 'ls' },
    tool_use_id: 'u',
    hook_event_name: 'preToolUse',
    workspace_roots: [root],
  });
});

it('lets the first refusal decide, by answer or by exit code 2, and joins what hooks add', async () => {
  const { machine } = withHooks({
    preToolUse: [
      { command: `echo '{"additional_context":"one"}'` },
      { command: 'exit 1' },
      { command: 'echo not for shells', matcher: '^Write$' },
      { command: `echo '{"additional_context":"two"}'` },
      { command: 'echo "no, thanks" >&2; exit 2' },
      { command: `echo '{"permission":"allow"}'` },
    ],
  });
  expect(await run(machine, TOOL)).toMatchObject({
    value: { permission: 'deny', agentMessage: 'no, thanks', additionalContext: 'one\n\ntwo' },
  });
});

it('takes a hook that fails for no opinion, or for a refusal when it says so', async () => {
  const hook = { command: 'echo junk', timeout: 5 };
  expect((await run(withHooks({ preToolUse: [hook] }).machine, TOOL))?.value).not.toHaveProperty('permission');
  expect(await run(withHooks({ preToolUse: [{ ...hook, failClosed: true }] }).machine, TOOL)).toMatchObject({
    value: { permission: 'deny' },
  });
  const slow = { command: 'sleep 60', timeout: 0.2, failClosed: true };
  expect(await run(withHooks({ preToolUse: [slow] }).machine, TOOL)).toMatchObject({
    value: { agentMessage: expect.stringContaining('did not end within 0.2 s') },
  });
});

it('answers every step in its own words', async () => {
  const { machine } = withHooks({
    stop: [{ command: `echo '{"followup_message":"go on"}'` }],
    beforeSubmitPrompt: [{ command: `echo '{"continue":false,"user_message":"stop"}'` }],
  });
  expect(await run(machine, { stop: { status: 'completed' } })).toMatchObject({
    case: 'stop',
    value: { followupMessage: 'go on' },
  });
  expect(await run(machine, { beforeSubmitPrompt: { prompt: 'x' } })).toMatchObject({
    value: { continue: false, userMessage: 'stop' },
  });
});

it('throws where there is no hook, where the file makes no sense, and where nothing may run', async () => {
  await expect(run(makeMachine().machine, TOOL)).rejects.toThrow(/no hook for preToolUse/);
  await expect(run(makeMachine({ '.cursor/hooks.json': '{' }).machine, TOOL)).rejects.toThrow(/cannot be understood/);
  await expect(
    run(withHooks({ preToolUse: [{ command: 'touch a' }] }, { mode: 'read-only' }).machine, TOOL),
  ).rejects.toThrow(/read-only/);
  await expect(run(makeMachine().machine, {})).rejects.toThrow(/kind that is not known/);
});
