import type { AgentRunRequest, RequestContext } from '@tandem/protocol/agent';
import type { ModelMessage } from '@tandem/protocol/message';
import { readFileSync } from 'node:fs';
import type { History } from '../conversation/history.ts';
import { lastNote, noteMessage } from './note.ts';
import { workspaceNote } from './workspace-note.ts';

let agentPrompt: string | undefined;

/** Our own words for agent mode, one Markdown file a mode; read once. */
function modePrompt(): string {
  agentPrompt ??= readFileSync(new URL('../../prompts/agent.md', import.meta.url), 'utf8').trim();
  return agentPrompt;
}

/** The system message of a conversation: the caller's own prompt, else ours (§4.2). */
function systemMessage(request: AgentRunRequest, context: RequestContext | undefined): ModelMessage {
  const specs = [request.systemPromptSpec, context?.systemPromptOverride].map(spec => spec?.spec);
  const replaced = specs.find(spec => spec?.case === 'replace')?.value;
  const appended = specs.flatMap(spec => (spec?.case === 'append' ? [spec.value] : []));
  return {
    role: 'system',
    content: [request.customSystemPrompt || replaced || modePrompt(), ...appended].join('\n\n'),
  };
}

/**
 * Makes sure that the history starts with a system message and knows the workspace as it is now. Both are written once: a
 * system message that stands is kept, unless the caller asks for another one; the note is added at the tail when it says
 * something new (R47).
 */
export function addPrompt(
  history: History,
  request: AgentRunRequest,
  context: RequestContext | undefined,
  now: number,
): void {
  const system = systemMessage(request, context);
  const first = history.messages[0];
  if (first?.role !== 'system') history.replaceSystem(system);
  else if (request.customSystemPrompt && first.content !== system.content) history.replaceSystem(system);
  addWorkspaceNote(history, request, context, now);
}

/** Tells a model that knows the workspace what it is like now, if that is something else: a resume drops no edit of it (F67). */
export function addChangedWorkspace(
  history: History,
  request: AgentRunRequest,
  context: RequestContext | undefined,
  now: number,
): void {
  if (lastNote(history.messages, 'workspace')) addWorkspaceNote(history, request, context, now);
}

function addWorkspaceNote(
  history: History,
  request: AgentRunRequest,
  context: RequestContext | undefined,
  now: number,
): void {
  if (!context || request.excludeWorkspaceContext) return;
  const note = workspaceNote(context, now);
  if (lastNote(history.messages, 'workspace')?.content !== note) history.append(noteMessage('workspace', note));
}
