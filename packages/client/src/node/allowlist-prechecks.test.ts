import {
  McpAllowlistPrecheckArgsSchema,
  ShellAllowlistPrecheckArgsSchema,
  WebFetchAllowlistPrecheckArgsSchema,
} from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import { makeMachine, runExecutor } from '../../test/machine.ts';
import {
  mcpAllowlistPrecheckExecutor,
  shellAllowlistPrecheckExecutor,
  webFetchAllowlistPrecheckExecutor,
} from './allowlist-prechecks.ts';
import type { Machine } from './machine.ts';
import { parseRule } from './permission-rule.ts';

async function checks({ root, machine }: { root: string; machine: Machine }) {
  const allowed = async (answers: Promise<{ value: unknown }[]>) =>
    ((await answers)[0]!.value as { allowlisted: boolean }).allowlisted;
  const shell = (command: string, workingDirectory = root) =>
    allowed(
      runExecutor(shellAllowlistPrecheckExecutor(machine), ShellAllowlistPrecheckArgsSchema, {
        command,
        workingDirectory,
      }),
    );
  const mcp = (providerIdentifier: string, toolName: string) =>
    allowed(
      runExecutor(mcpAllowlistPrecheckExecutor(machine), McpAllowlistPrecheckArgsSchema, {
        providerIdentifier,
        toolName,
      }),
    );
  const page = (url: string) =>
    allowed(runExecutor(webFetchAllowlistPrecheckExecutor(machine), WebFetchAllowlistPrecheckArgsSchema, { url }));
  return await Promise.all([
    shell('git status'),
    shell('touch a'),
    shell('sudo ls'),
    shell('touch a', '/'),
    mcp('demo', 'echo'),
    mcp('other', 'echo'),
    page('http://127.0.0.1:80/'),
    page('http://1.1.1.1/'),
    page('nonsense'),
  ]);
}
const tree = { '.mcp.json': '{"mcpServers":{"demo":{"command":"never-started"}}}' };

it('[§10.2-allowlist-precheck] tells what would run without a question, and asks none', async () => {
  const ask = () => Promise.reject(new Error('it was asked'));
  expect(await checks(makeMachine(tree, { mode: 'auto', ask }))).toEqual([
    true,
    true,
    false,
    false,
    true,
    false,
    false,
    true,
    false,
  ]);
  expect(await checks(makeMachine(tree, { mode: 'ask', ask }))).toEqual([true, ...Array(8).fill(false)]);
  expect(await checks(makeMachine(tree, { mode: 'read-only' }))).toEqual([true, ...Array(8).fill(false)]);
});

it('[product-permission-rules] follows the rules', async () => {
  const rules = ['shell: touch', 'mcp: demo/echo', 'fetch: 127.0.0.1'].map(rule => parseRule('allow', rule));
  expect(await checks(makeMachine(tree, { mode: 'ask', rules }))).toEqual([
    true,
    true,
    false,
    false,
    true,
    false,
    true,
    false,
    false,
  ]);
});
