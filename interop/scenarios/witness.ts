import assert from 'node:assert/strict';
import type { SDKMessage, SDKToolUseMessage } from '@cursor/sdk';
import type { Act, RunReport, Witness } from '../scenario.ts';

/** An act that sends each prompt to one new agent, in order. */
export function sendPrompts(...prompts: string[]): Act {
  return async stage => {
    const agent = await stage.createAgent();
    const runs: RunReport[] = [];
    for (const prompt of prompts) runs.push(await stage.drive(agent, prompt));
    agent.close();
    return { agentId: agent.agentId, runs };
  };
}

/** The final text of a run that finished; anything else fails. */
function textOf(run: RunReport | undefined): string {
  assert.equal(run?.result?.status, 'finished', JSON.stringify(run?.result ?? run?.failure));
  return run?.result?.result ?? '';
}

/** The final text of the only run, or of the run with that number. */
export const finalText = (witness: Witness, at = 0): string => textOf(witness.runs[at]);

/** The last event of each tool card with this name. Every card that started must have settled. */
export function settledCards(run: RunReport | undefined, name: string): SDKToolUseMessage[] {
  const cards = new Map<string, SDKToolUseMessage>();
  for (const event of run?.events ?? []) {
    if (!isCard(event) || event.name !== name) continue;
    if (!cards.has(event.call_id)) assert.equal(event.status, 'running', `${name} starts as running`);
    cards.set(event.call_id, event);
  }
  for (const card of cards.values()) assert.notEqual(card.status, 'running', `${name} settles`);
  return [...cards.values()];
}

export const isCard = (event: SDKMessage): event is SDKToolUseMessage => event.type === 'tool_call';

/** What the model was told by the tools, in the request with that number. */
export function toolResults({ provider }: Pick<Witness, 'provider'>, request: number): string[] {
  const messages = provider.requests[request]?.body.messages ?? [];
  return messages.filter(message => message.role === 'tool').map(message => contentText(message.content));
}

/** Every user and assistant text and every tool result of a request, joined. */
export function promptText({ provider }: Pick<Witness, 'provider'>, request: number): string {
  return (provider.requests[request]?.body.messages ?? []).map(message => contentText(message.content)).join('\n');
}

const contentText = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content));
