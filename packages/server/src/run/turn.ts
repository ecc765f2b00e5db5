import type { AgentRunRequest, InteractionUpdate } from '@tandem/protocol/agent';
import { textOfMessage } from '@tandem/protocol/message';
import type { ModelMessage } from '@tandem/protocol/message';
import { breathe } from '../breathe.ts';
import { updateMessage } from '../bridge/outbox.ts';
import type { Outbox } from '../bridge/outbox.ts';
import type { RunBlobs } from '../conversation/blobs.ts';
import type { Checkpoint } from '../conversation/checkpoint.ts';
import type { History } from '../conversation/history.ts';
import { todoReferences } from '../conversation/todos.ts';
import {
  addContextUsage,
  charactersOf,
  estimateTokens,
  measurePrompt,
  tokenDetails,
} from '../conversation/token-details.ts';
import type { PromptSize } from '../conversation/token-details.ts';
import { Turns } from '../conversation/turns.ts';
import type { Identity } from '../identity.ts';
import type { Model, Usage } from '../model/port.ts';
import type { CallLimits } from '../model/retry.ts';
import type { OfferedTools } from '../tools/registry.ts';
import { usageOfCutCall } from '../usage/estimate.ts';
import type { RunMeter } from '../usage/meter.ts';
import type { RunAccount } from './account.ts';
import type { Answer } from './answer.ts';
import type { Injections } from './injections.ts';
import { noteKindOf } from './note.ts';
import { appendSteps } from './steps.ts';
import type { RoundCall, RoundResult, ToolServices } from './tool-round.ts';
import { TurnImages } from './turn-images.ts';
import { usedTokens } from './usage.ts';

/** What a turn is made of when it begins. */
export interface TurnParts {
  readonly request: AgentRunRequest;
  readonly requestId: string;
  readonly outbox: Outbox;
  readonly account: RunAccount;
  readonly meter: RunMeter;
  readonly injections: Injections;
  readonly identity: Identity;
  readonly callLimits: CallLimits;
  readonly model: Model;
  readonly parameters: Record<string, string>;
  readonly blobs: RunBlobs;
  readonly checkpoint: Checkpoint;
  readonly history: History;
  readonly services: ToolServices;
  readonly tools: OfferedTools;
}

/** One turn at work: what it has to hand, the history that grows, and the state that the client will have. */
export class Turn {
  readonly parts: TurnParts;
  /** The display side; an action sets where it goes on. */
  turns: Turns;
  /** Usage of the last model call of this run. */
  lastUsage: Usage | undefined;
  /** The model that answers: the one that was asked for, or one that stands in for it until the end of the turn. */
  answering: Model;
  readonly images: TurnImages;
  readonly #toolCharacters: number;
  /** What the state said of its tokens, and what we would have estimated for the same messages. */
  readonly #brought: { tokens: number; estimated: number };

  constructor(parts: TurnParts) {
    this.parts = parts;
    this.answering = parts.model;
    const { blobs, checkpoint, history, tools } = parts;
    this.turns = Turns.after(blobs, checkpoint.state.turns);
    this.images = new TurnImages(
      () => this.answering.info,
      history.messages.length,
      text => this.notice(text),
    );
    this.#toolCharacters = JSON.stringify(tools.definitions).length;
    const tokens = history.messages.length > 0 ? (checkpoint.state.tokenDetails?.usedTokens ?? 0) : 0;
    this.#brought = { tokens, estimated: estimateTokens(this.#measure()) };
  }

  update(message: InteractionUpdate['message']): void {
    this.parts.outbox.append(updateMessage(message));
  }

  /** A sentence of the server to the user; never part of the history (R27). */
  notice(text: string): void {
    this.update({ case: 'textDelta', value: { $typeName: 'agent.v1.TextDeltaUpdate', text, isServerNotice: true } });
  }

  /** The card of a call that is complete. Calls of tools that were not offered have none. */
  startCard({ tool, args, callId }: RoundCall, modelCallId: string): void {
    if (!tool) return;
    const { cards, facts } = this.parts.services;
    const context = { callId, facts };
    cards.start(callId, modelCallId, tool.open(args, context), text => tool.close(args, text, context));
  }

  /** Takes an answer and the results of its calls into the history and its display side. */
  async settle(message: ModelMessage, round: RoundResult): Promise<void> {
    const { history, checkpoint } = this.parts;
    history.append(message);
    await breathe(charactersOf(round.message));
    const bytes = history.append(round.message);
    await breathe(bytes);
    appendSteps(this.turns, message, round.cards);
    await breathe(bytes);
    checkpoint.state.pendingToolCalls = [];
  }

  /** Takes an answer without calls into the history; one without text says nothing and is left out. */
  async keepAnswer(message: ModelMessage): Promise<void> {
    if (textOfMessage(message).trim() === '') return;
    await breathe(this.parts.history.append(message));
    appendSteps(this.turns, message, new Map());
  }

  /** Brings the state up to what the history says, and publishes it. */
  async publish(): Promise<void> {
    const { checkpoint, history, blobs, request, services } = this.parts;
    const { state } = checkpoint;
    state.rootPromptMessagesJson = [...history.references];
    state.turns = this.turns.references();
    state.todos = todoReferences(blobs, services.todos);
    const sizes = this.#measure();
    const used = (this.lastUsage && usedTokens(this.lastUsage)) ?? this.#estimate(sizes);
    state.tokenDetails = tokenDetails(used, this.answering.info.contextWindow, sizes);
    if (request.clientSupportsPromptContextUsageRpc) {
      addContextUsage(state.tokenDetails, state.rootPromptMessagesJson, data => blobs.put(data));
    }
    await checkpoint.publish();
  }

  /** The usage of a call that was cut, as far as it was told and else estimated (R58). */
  usageOfCut(answer: Answer, told: Usage | undefined): Usage {
    return usageOfCutCall(told, this.#estimate(this.#measure()), answer.characters);
  }

  /** Tokens before the first answer: what the conversation had, and what came since, roughly (R51). */
  #estimate(sizes: readonly PromptSize[]): number {
    const now = estimateTokens(sizes);
    const { tokens, estimated } = this.#brought;
    return tokens > 0 ? Math.max(0, tokens + now - estimated) : now;
  }

  #measure(): PromptSize[] {
    const { messages } = this.parts.history;
    return measurePrompt(messages, this.#toolCharacters, message => noteKindOf(message) !== undefined);
  }
}
