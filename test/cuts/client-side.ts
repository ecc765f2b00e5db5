import { fromBinary } from '@bufbuild/protobuf';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import type { AgentClientMessage, ConversationStateStructure } from '@tandem/protocol/agent';
import type { ExecRecord } from '../../packages/server/src/store/port.ts';
import type { RequestHeaders } from '../../packages/server/src/stream/request-headers.ts';
import type { ClientMessage, ExecAnswer, Up } from './attempt.ts';
import { checkBlobs } from './blob-check.ts';
import type { ScriptedTurn } from './conversation.ts';
import { historyLines, resultsByCall, rootKey } from './final-history.ts';
import type { Hands, HandsSnapshot } from './hands.ts';

/** What a client has between two turns. */
export interface ClientSnapshot {
  readonly state: ConversationStateStructure;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly settled: ReadonlyMap<string, { callId: string; run: number }>;
  readonly acknowledgedBlobs: ReadonlySet<string>;
  readonly hands: HandsSnapshot;
}

/** What the client keeps between attempts and turns: blobs, the last checkpoint, what it did and what was acknowledged. */
export class ClientSide {
  readonly hands: Hands;
  readonly blobs = new Map<string, Uint8Array>();
  /** Results that the server acknowledged or wrote, by question; with how often the client had run it. */
  readonly settled = new Map<string, { callId: string; run: number }>();
  state: ConversationStateStructure;
  /** Roots of the present attempt so far, as ids. */
  roots: string[] = [];
  readonly #acknowledgedBlobs = new Set<string>();
  #hasCheckpoint = false;
  /** Answers of the present attempt, by question. */
  readonly #answers = new Map<string, ExecAnswer>();
  #originalRequestId = '';

  constructor(hands: Hands, state: ConversationStateStructure) {
    this.hands = hands;
    this.state = state;
  }

  /** All of it as it stands between two turns. */
  snapshot(): ClientSnapshot {
    return {
      state: this.state,
      blobs: new Map(this.blobs),
      settled: new Map(this.settled),
      acknowledgedBlobs: new Set(this.#acknowledgedBlobs),
      hands: this.hands.snapshot(),
    };
  }

  restore({ state, blobs, settled, acknowledgedBlobs, hands }: ClientSnapshot): void {
    this.state = state;
    for (const [key, data] of blobs) this.blobs.set(key, data);
    for (const [key, result] of settled) this.settled.set(key, result);
    for (const key of acknowledgedBlobs) this.#acknowledgedBlobs.add(key);
    this.hands.restore(hands);
  }

  beginTurn(): void {
    this.#hasCheckpoint = false;
  }

  beginAttempt(): void {
    this.#answers.clear();
    this.roots = this.state.rootPromptMessagesJson.map(rootKey);
  }

  /** The first message of an attempt: the user's, or `resume_action` once a checkpoint of this turn came (R15). */
  runRequest(turn: ScriptedTurn, runId: string): ClientMessage {
    this.#originalRequestId = runId;
    const action = this.#hasCheckpoint
      ? ({ action: { case: 'resumeAction', value: {} } } as const)
      : ({
          action: { case: 'userMessageAction', value: { userMessage: { text: turn.says, ...turn.message } } },
        } as const);
    const value = {
      conversationState: this.state,
      action,
      conversationId: 'conversation',
      runId,
      requestedModel: { modelId: 'cut-model' },
    };
    return { case: 'runRequest', value } as ClientMessage;
  }

  headers(): RequestHeaders {
    return {
      originalRequestId: this.#originalRequestId,
      allowedTools: undefined,
      excludedTools: undefined,
      sealKey: undefined,
      client: undefined,
    };
  }

  decode({ bytes }: Up): { message: AgentClientMessage; bytes: Uint8Array } {
    return { message: fromBinary(AgentClientMessageSchema, bytes), bytes };
  }

  /** An append leaves: from now on the server may rely on the blob it acknowledges. */
  sending({ blob, answer }: Up): void {
    if (blob !== undefined) this.#acknowledgedBlobs.add(blob);
    if (answer) this.#answers.set(answer.key, answer);
  }

  acknowledged({ answer, seqno }: Up): void {
    if (!answer) return;
    if (answer.acknowledged.add(seqno).size === answer.parts) this.settled.set(answer.key, answer);
  }

  /** The ledger has a record; an answer of which it has every part must not be asked for again, acknowledged or not. */
  recorded(details: unknown): void {
    const { callId, argsHash, seqno } = details as ExecRecord;
    const end = Buffer.from(argsHash).toString('hex');
    for (const [key, answer] of this.#answers) {
      if (answer.callId !== callId || !key.endsWith(end)) continue;
      if (answer.written.add(seqno).size === answer.parts) this.settled.set(key, answer);
    }
  }

  /** Keeps a checkpoint, whole, in place of the one before. Returns what is wrong with it. */
  takeCheckpoint(state: ConversationStateStructure): string[] {
    this.state = state;
    this.#hasCheckpoint = true;
    const problems = checkBlobs(this.state, this.blobs, this.#acknowledgedBlobs);
    const roots = this.state.rootPromptMessagesJson.map(rootKey);
    const at = this.roots.findIndex((key, index) => roots[index] !== key);
    if (at >= 0) problems.push(`root ${at} of a checkpoint is not the one that it was`);
    this.roots = roots;
    return problems;
  }

  lines(): string[] {
    return historyLines(this.state, this.blobs);
  }

  /** Whether each acknowledged result stands in the final history, and is the one of the run that was acknowledged. */
  checkResults(): string[] {
    const results = resultsByCall(this.state, this.blobs);
    return [...this.settled.values()].flatMap(({ callId, run }) => {
      const result = results.get(callId);
      if (result === undefined) return [`the result of ${callId} was acknowledged and is not in the history`];
      const marks = [...result.matchAll(/\(run (\d+)\)/g)].map(([, number]) => Number(number));
      return marks.some(mark => mark !== run)
        ? [`the result of ${callId} is of run ${marks.join(', ')}; acknowledged was run ${run}`]
        : [];
    });
  }
}
