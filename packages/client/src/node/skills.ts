import { create } from '@bufbuild/protobuf';
import { AgentSkillSchema, CustomSubagentPermissionMode, CustomSubagentSchema } from '@tandem/protocol/agent';
import type { AgentSkill, CustomSubagent } from '@tandem/protocol/agent';
import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseHead, splitHead } from './rules.ts';
import { decodeText } from './text-form.ts';

/** Folders of a workspace in which skills and subagents are kept; the first that has one of a name decides. */
const FOLDERS = ['.cursor', '.claude', '.agents'];

/** Longest file taken, and how many of a kind. */
const FILE_CAP = 256 * 1024;
const COUNT_CAP = 100;

/** The skills of a workspace: a folder each with a `SKILL.md`, whose head says what it is for. */
export async function readSkills(root: string): Promise<AgentSkill[]> {
  const skills = new Map<string, AgentSkill>();
  for (const { name, path } of await listIn(root, 'skills')) {
    const file = await readHeaded(join(path, 'SKILL.md'));
    if (file === undefined || skills.has(name)) continue;
    const skill = {
      fullPath: join(path, 'SKILL.md'),
      content: file.body,
      description: file.head['description'] ?? '',
      disableModelInvocation: file.head['disable-model-invocation'] === 'true',
    };
    skills.set(name, create(AgentSkillSchema, skill));
  }
  return [...skills.values()].slice(0, COUNT_CAP);
}

/** The subagents of a workspace: a Markdown file each, its head about how, its body the prompt (R64). */
export async function readSubagents(root: string): Promise<CustomSubagent[]> {
  const subagents = new Map<string, CustomSubagent>();
  for (const { name, path } of await listIn(root, 'agents')) {
    const file = name.endsWith('.md') ? await readHeaded(path) : undefined;
    if (file === undefined) continue;
    const { head, body } = file;
    const title = head['name'] || basename(name, '.md');
    if (subagents.has(title)) continue;
    const readonly = head['readonly'] === 'true';
    const subagent = {
      fullPath: path,
      name: title,
      description: head['description'] ?? '',
      tools: (head['tools'] ?? '')
        .split(',')
        .map(tool => tool.trim())
        .filter(tool => tool !== ''),
      model: head['model'] || 'inherit',
      prompt: body.trim(),
      permissionMode: readonly ? CustomSubagentPermissionMode.READONLY : CustomSubagentPermissionMode.DEFAULT,
      isBackground: head['is_background'] === 'true',
      source: 'workspace',
    };
    subagents.set(title, create(CustomSubagentSchema, subagent));
  }
  return [...subagents.values()].slice(0, COUNT_CAP);
}

async function listIn(root: string, kind: string): Promise<{ name: string; path: string }[]> {
  const lists = await Promise.all(
    FOLDERS.map(async folder => {
      const path = join(root, folder, kind);
      const names = await readdir(path).catch(() => [] as string[]); // most workspaces have none
      return names.sort().map(name => ({ name, path: join(path, name) }));
    }),
  );
  return lists.flat();
}

async function readHeaded(path: string): Promise<{ head: Record<string, string>; body: string } | undefined> {
  const bytes = await readFile(path).catch(() => undefined); // absent, or not for us to read
  const text = bytes === undefined || bytes.length > FILE_CAP ? undefined : decodeText(bytes)?.text;
  if (text === undefined) return undefined;
  const { head, body } = splitHead(text);
  return { head: parseHead(head), body };
}
