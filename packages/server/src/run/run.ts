import { create } from '@bufbuild/protobuf';
import { Fault, fault } from '@tandem/protocol';
import { AgentMode, UserMessageSchema } from '@tandem/protocol/agent';
import type { AgentRunRequest, ConversationAction, InteractionUpdate, ToolCall, UserMessage, UserMessageAction } from '@tandem/protocol/agent';
import { textOfMessage, toolCallsOf } from '@tandem/protocol/message';
import type { ModelMessage } from '@tandem/protocol/message';
import { ExecBridge } from '../bridge/exec.ts';
import { KvBridge } from '../bridge/kv.ts';
import { updateMessage } from '../bridge/outbox.ts';
import type { Outbox } from '../bridge/outbox.ts';
import type { Clock } from '../clock.ts';
import { RunBlobs } from '../conversation/blobs.ts';
import { Checkpoint } from '../conversation/checkpoint.ts';
import { History } from '../conversation/history.ts';
import { readPending, writePending } from '../conversation/pending-calls.ts';
import type { PendingBatch } from '../conversation/pending-calls.ts';
import { restoreTodos, todoReferences } from '../conversation/todos.ts';
import { estimateTokens, measurePrompt, tokenDetails } from '../conversation/token-details.ts';
import { Turns } from '../conversation/turns.ts';
import type { Identity } from '../identity.ts';
import { MODEL_CALLS_PER_TURN } from '../limits.ts';
import type { Catalogue, Model, ModelChoice, Usage } from '../model/port.ts';
import { streamWithRetry } from '../model/retry.ts';
import type { CallLimits, Retry } from '../model/retry.ts';
import type { Log } from '../observe/log.ts';
import type { Scope, Store } from '../store/port.ts';
import { buildMcpTable } from '../tools/mcp-table.ts';
import { offerTools } from '../tools/registry.ts';
import type { OfferedTools } from '../tools/registry.ts';
import type { Card, ToolFacts } from '../tools/tool.ts';
import { Answer } from './answer.ts';
import type { AnswerCall, Shown } from './answer.ts';
import { Cards } from './cards.ts';
import { loadContext } from './context.ts';
import { decide, noAnswersYet } from './decide.ts';
import { Injections } from './injections.ts';
import { noteKindOf, noteMessage } from './note.ts';
import { addPrompt } from './prompt.ts';
import { appendSteps } from './steps.ts';
import { runRound } from './tool-round.ts';
import type { RoundCall, ToolServices } from './tool-round.ts';
import { addUsage, turnEnded, usedTokens } from './usage.ts';
import { userModelMessage } from './user-message.ts';

/** What every run of a server shares. */
export interface RunServices {
  readonly catalogue: Catalogue;
  readonly store: Store;
  readonly clock: Clock;
  readonly identity: Identity;
  readonly log: Log;
  readonly callLimits: CallLimits;
}

/** What the request of a run says beside its message: headers (R9) and who asks. */
export interface RunRequestFacts {
  readonly requestId: string;
  readonly scope: Scope;
  readonly allowedTools?: ReadonlySet<string> | undefined;
  readonly excludedTools?: ReadonlySet<string> | undefined;
}

/** How a run ended, for whoever keeps account. */
export interface RunEnd {
  readonly fault: Fault | undefined;
  readonly model: string;
  readonly usage: Usage;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly retries: number;
  /** When the client was first shown output, or undefined. */
  readonly firstOutputAt: number | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * A run is `working` from its first message to its end; only then may it speak. `ended` is final: whatever still goes on in its
 * promises finds a closed outbox (R21, R53).
 */
type RunState = { tag: 'working' } | { tag: 'ended'; end: RunEnd };

/** Faults of the way between client and server: a new attempt goes on where this one stood, whatever was shown (R54). */
const TRANSPORT = new Set<Fault['name_']>(['append_gap', 'buffer_overflow', 'placeholder_expired', 'shutting_down']);

/** One agent run: restores the conversation, calls the model, runs its tools at the client, publishes checkpoints, ends once. */
export class Run {
  readonly conversationId: string;
  readonly runId: string;
  readonly exec: ExecBridge;
  readonly kv: KvBridge;
  readonly #request: AgentRunRequest;
  readonly #facts: RunRequestFacts;
  readonly #services: RunServices;
  readonly #outbox: Outbox;
  readonly #onEnd: (end: RunEnd) => void;
  readonly #abort = new AbortController();
  readonly #cards: Cards;
  readonly #injections: Injections;
  readonly #log: Log;
  readonly #startedAt: number;
  #state: RunState = { tag: 'working' };
  #usage: Usage = {};
  #modelCalls = 0;
  #toolCalls = 0;
  #retries = 0;
  #firstOutputAt: number | undefined;
  #modelKey = '';
  /** Whether the client was shown output, or a tool may have done something: a whole replay is no longer harmless (R54). */
  #shown = false;

  constructor(options: {
    request: AgentRunRequest;
    facts: RunRequestFacts;
    services: RunServices;
    outbox: Outbox;
    onEnd: (end: RunEnd) => void;
  }) {
    const { request, facts, services, outbox } = options;
    const { clock, identity, store, log } = services;
    this.#request = request;
    this.#facts = facts;
    this.#services = services;
    this.#onEnd = options.onEnd;
    this.#log = log;
    this.conversationId = request.conversationId || identity.uuid();
    this.runId = request.runId || facts.requestId;
    this.#startedAt = clock.now();
    this.#outbox = {
      append: message => {
        if (this.#state.tag === 'working') outbox.append(message);
      },
      ready: () => outbox.ready(),
      reader: () => outbox.reader(),
    };
    const { scope, requestId } = facts;
    this.kv = new KvBridge({ outbox: this.#outbox, clock, log });
    this.exec = new ExecBridge({ outbox: this.#outbox, clock, log, ledger: store.ledger, scope, requestId, conversationId: this.conversationId });
    this.#cards = new Cards(this.#outbox, () => clock.now());
    this.#injections = new Injections(this.#outbox, this.runId);
  }

  /** Works the run to its end; never rejects. */
  async start(): Promise<void> {
    try {
      await this.#work();
      this.#injections.close();
      this.#update({ case: 'turnEnded', value: turnEnded(this.#usage) });
      this.#finish(undefined);
    } catch (error) {
      if (this.#state.tag === 'ended') return;
      const told = Fault.from(error);
      if (told.name_ === 'internal') this.#log.error({ error: String(error instanceof Error ? error.stack : error) }, 'a run failed by a fault of this server');
      this.#finish(told);
    }
  }

  /** Ends the run from outside, at once: cancel, superseded, no reader, shutdown (R15, R19, R53). Does not wait for the client. */
  cancel(reason: Fault): void {
    this.#finish(reason);
  }

  /** An action that came while the run works (§7.2). */
  act({ action }: ConversationAction): void {
    if (action.case === 'cancelAction') {
      this.cancel(fault('canceled', action.value.reason ? `Canceled by the client: ${action.value.reason}` : 'Canceled by the client.'));
    } else if (action.case === 'injectContextAction') {
      this.#injections.add(action.value);
    } else this.#log.warn({ action: action.case }, 'an action that a running run does not take was ignored');
  }

  #finish(told: Fault | undefined): void {
    if (this.#state.tag === 'ended') return;
    const transport = told !== undefined && TRANSPORT.has(told.name_);
    const reason = told?.retryable && this.#shown && !transport ? notRetryable(told) : told;
    if (reason) {
      this.exec.close(reason);
      this.#cards.closeAll(reason.code === 'canceled' ? 'The call was cancelled.' : `The call was ended: ${reason.detail}`);
      this.kv.close(reason);
    }
    const end: RunEnd = {
      fault: reason,
      model: this.#modelKey,
      usage: this.#usage,
      modelCalls: this.#modelCalls,
      toolCalls: this.#toolCalls,
      retries: this.#retries,
      firstOutputAt: this.#firstOutputAt,
      startedAt: this.#startedAt,
      endedAt: this.#services.clock.now(),
    };
    this.#state = { tag: 'ended', end };
    this.#abort.abort(reason ?? new Error('the run is over'));
    this.#onEnd(end);
  }

  async #work(): Promise<void> {
    const { clock, store, catalogue } = this.#services;
    const request = this.#request;
    const action = request.action;
    if (!action?.action.case) {
      throw fault('bad_request', 'run_request.action is missing. Set one of its branches, for example user_message_action.');
    }
    const { model, parameters } = catalogue.resolve(modelChoice(request));
    this.#modelKey = model.info.key;
    const blobs = new RunBlobs({ kv: this.kv, cache: store.blobs, scope: this.#facts.scope, preFetched: request.preFetchedBlobs });
    const checkpoint = new Checkpoint({ outbox: this.#outbox, blobs, brought: request.conversationState });
    const { state } = checkpoint;

    const notice = noticeInsteadOf(action);
    if (notice !== undefined) {
      this.#update({ case: 'textDelta', value: { $typeName: 'agent.v1.TextDeltaUpdate', text: notice, isServerNotice: true } });
      await checkpoint.publish();
      return;
    }
    const resumed = action.action.case === 'resumeAction';
    if (!resumed && action.action.case !== 'userMessageAction') {
      throw fault('unsupported_action', `This version of tandem does not support ${snakeCase(action.action.case)} yet. Send a user_message_action.`);
    }

    const signal = this.#abort.signal;
    const [context, history, todos] = await Promise.all([
      loadContext({ action, blobs, exec: this.exec, signal, log: this.#log }),
      History.restore(blobs, state.rootPromptMessagesJson),
      restoreTodos(blobs, state.todos, this.#log),
    ]);
    const env = context?.env;
    const facts: ToolFacts = {
      context,
      workspacePaths: env?.workspacePaths.length ? env.workspacePaths : env?.processWorkingDirectory ? [env.processWorkingDirectory] : [],
      terminalsFolder: env?.terminalsFolder ?? '',
      mcp: buildMcpTable([request.mcpTools?.mcpTools ?? [], context?.tools ?? []], context),
      vision: model.info.vision,
    };
    const tools = offerTools(facts, { allowed: this.#facts.allowedTools, excluded: this.#facts.excludedTools });
    const services: ToolServices = { facts, exec: this.exec, cards: this.#cards, clock, log: this.#log, signal, todos };
    const { batch, unreadable } = readPending(state.pendingToolCalls);
    if (unreadable > 0) this.#log.warn({ unreadable }, 'entries of pending_tool_calls could not be read and count as interrupted');

    const turn = new Turn({ model, parameters, blobs, checkpoint, history, services, tools });
    if (resumed) await this.#resume(turn, batch, unreadable);
    else await this.#begin(turn, batch, action.action.value as UserMessageAction, context);
  }

  /** A new user message: what was pending is closed as interrupted, the message is persisted, then the model is asked (R48). */
  async #begin(turn: Turn, batch: PendingBatch | undefined, action: UserMessageAction, context: ToolFacts['context']): Promise<void> {
    const { history, checkpoint, blobs } = turn;
    const { clock } = this.#services;
    const { state } = checkpoint;
    let turns = Turns.after(blobs, state.turns);
    if (batch) {
      turns = await Turns.resume(blobs, state.turns);
      await this.#settle(turn, turns, batch.message, await this.#pendingRound(turn, batch, 'ledger'));
      turns = Turns.after(blobs, turns.references());
    }
    addPrompt(history, this.#request, context, clock.now());
    for (const earlier of action.prependUserMessages) history.append(await userModelMessage(earlier, blobs));
    const message: UserMessage = action.userMessage ?? create(UserMessageSchema);
    history.append(await userModelMessage(message, blobs));
    turns.begin(message, this.#facts.requestId);
    turn.turns = turns;

    state.pendingToolCalls = [];
    if (message.mode !== AgentMode.UNSPECIFIED) state.mode = message.mode;
    if (turn.services.facts.workspacePaths.length > 0) state.previousWorkspaceUris = turn.services.facts.workspacePaths.map(fileUri);
    state.conversationStartedTimestampMs ??= BigInt(clock.now());
    if (context?.env?.timeZone) state.conversationStartedTimeZone ??= context.env.timeZone;
    await this.#publish(turn);
    await this.#loop(turn);
  }

  /** Goes on where a checkpoint stood: runs what is pending, repeats nothing that has a result (R48, R49). */
  async #resume(turn: Turn, batch: PendingBatch | undefined, unreadable: number): Promise<void> {
    const { history, checkpoint, blobs } = turn;
    if (history.messages.length === 0) {
      throw fault('bad_request', 'resume_action came without a conversation: its state holds no messages. Send a user_message_action.');
    }
    turn.turns = await Turns.resume(blobs, checkpoint.state.turns);
    if (history.messages[0]?.role !== 'system') addPrompt(history, this.#request, undefined, this.#services.clock.now());
    if (batch) {
      const modelCallId = this.#services.identity.uuid();
      const calls = this.#pendingCalls(turn, batch);
      for (const call of calls) this.#startCard(call, modelCallId, turn);
      this.#shown = true;
      this.#toolCalls += calls.length;
      await this.#settle(turn, turn.turns, batch.message, await runRound(calls, turn.services, 'replay'));
      await this.#publish(turn);
    } else if (unreadable > 0) {
      history.append(noteMessage('interrupted', 'Tool calls of the last step were interrupted, and their results are lost. Check what they changed before you repeat them.'));
      checkpoint.state.pendingToolCalls = [];
    } else if (history.turnIsOver) {
      await this.#publish(turn);
      return;
    }
    await this.#loop(turn);
  }

  #pendingCalls(turn: Turn, batch: PendingBatch): RoundCall[] {
    return toolCallsOf(batch.message).map(part => {
      const tool = turn.tools.find(part.toolName);
      return roundCall(turn.tools, { callId: part.toolCallId, name: part.toolName, raw: JSON.stringify(part.args), tool });
    });
  }

  /** The results of a batch that will not be run any more: from the ledger where they are, else interrupted. */
  async #pendingRound(turn: Turn, batch: PendingBatch, from: 'ledger') {
    return runRound(this.#pendingCalls(turn, batch), turn.services, from);
  }

  async #loop(turn: Turn): Promise<void> {
    const { history, tools } = turn;
    let counts = noAnswersYet;
    for (;;) {
      if (this.#modelCalls >= MODEL_CALLS_PER_TURN) {
        throw fault('provider_refused_request', `The model did not come to an end within ${MODEL_CALLS_PER_TURN} calls. Send a message to let it go on.`, { title: 'Turn too long' });
      }
      this.#deliverInjections(turn);
      const modelCallId = this.#services.identity.uuid();
      const answer = await this.#callModel(turn, modelCallId);
      const calls = answer.calls.map(call => roundCall(tools, { ...call, raw: call.args, tool: tools.find(call.name) }));
      const decided = decide(
        {
          reason: answer.finish?.reason ?? 'missing',
          hasText: answer.text.trim() !== '',
          isEmpty: answer.isEmpty,
          calls: calls.length,
          usableCalls: calls.filter(call => call.refusal === undefined).length,
        },
        counts,
      );
      counts = decided.counts;
      const { decision } = decided;
      switch (decision.next) {
        case 'fail':
          throw decision.fault;
        case 'call-again':
          continue;
        case 'run-tools':
          await this.#runTools(turn, answer, calls, modelCallId);
          continue;
        case 'refuse-cut-calls': {
          const refusal =
            'The output limit was reached before this call was complete, so it did not run. Make it again with shorter arguments, or in several smaller steps.';
          await this.#runTools(turn, answer, calls.map(call => ({ ...call, refusal })), modelCallId);
          continue;
        }
        case 'continue-text':
          this.#keepText(turn, answer);
          history.append(noteMessage('continue', 'Your answer was cut by the output limit. Go on exactly where it stopped, without repeating anything.'));
          await this.#publish(turn);
          continue;
        case 'end':
        case 'end-without-calls':
          this.#cards.closeAll('The call did not run: the answer ended before it.');
          if (decision.notice !== undefined) this.#notice(decision.notice);
          this.#keepText(turn, answer);
          await this.#publish(turn);
          return;
      }
    }
  }

  #deliverInjections(turn: Turn): void {
    for (const action of this.#injections.take()) {
      const { payload } = action;
      const text = payload.case === 'userContext' ? (payload.value.userMessage?.text ?? '') : payload.case === 'systemContext' ? payload.value.content : '';
      turn.history.append({ role: 'user', content: text });
      this.#injections.delivered(action, this.#services.clock.now());
    }
  }

  /** One model call, shown while it streams. A run without a reader starts none (R19). */
  async #callModel(turn: Turn, modelCallId: string): Promise<Answer> {
    const { clock, identity, callLimits } = this.#services;
    const { model, parameters, history, tools } = turn;
    const signal = this.#abort.signal;
    await this.#outbox.reader();
    signal.throwIfAborted();
    this.#modelCalls++;
    const answer = new Answer(() => identity.callId());
    const request = { messages: [...history.messages], tools: tools.definitions, parameters, signal };
    const events = streamWithRetry(model, request, {
      clock,
      identity,
      limits: callLimits,
      onRetry: (about: Retry) => {
        this.#retries++;
        this.#log.warn({ requestId: this.#facts.requestId, ...about, fault: about.fault.detail }, 'a model call is tried again');
      },
    });
    for await (const event of events) {
      signal.throwIfAborted();
      for (const shown of answer.push(event, clock.now())) this.#show(shown, modelCallId, turn);
      const wait = this.#outbox.ready();
      if (wait) await wait;
    }
    signal.throwIfAborted();
    const usage = answer.finish?.usage ?? {};
    this.#usage = addUsage(this.#usage, usage);
    if (usage.outputTokens) {
      this.#update({ case: 'tokenDelta', value: { $typeName: 'agent.v1.TokenDeltaUpdate', tokens: usage.outputTokens } });
    }
    turn.lastUsage = usage;
    return answer;
  }

  #show(shown: Shown, modelCallId: string, turn: Turn): void {
    this.#shown = true;
    this.#firstOutputAt ??= this.#services.clock.now();
    switch (shown.show) {
      case 'text':
        this.#update({ case: 'textDelta', value: { $typeName: 'agent.v1.TextDeltaUpdate', text: shown.text, isServerNotice: false } });
        break;
      case 'thinking':
        this.#update({ case: 'thinkingDelta', value: { $typeName: 'agent.v1.ThinkingDeltaUpdate', text: shown.text } });
        break;
      case 'thinking-end':
        this.#update({ case: 'thinkingCompleted', value: { $typeName: 'agent.v1.ThinkingCompletedUpdate', thinkingDurationMs: shown.durationMs } });
        break;
      case 'call': {
        const card = emptyCard(turn, shown.call);
        if (card) this.#cards.partial(shown.call.callId, modelCallId, card.open, card.close);
        break;
      }
      case 'args': {
        const card = turn.emptyCards.get(shown.call.callId);
        if (card) this.#cards.argsText(shown.call.callId, card, shown.text);
        break;
      }
    }
  }

  /** A round of tools: cards start, the pending batch is published, the calls run, results and history are published (part 4). */
  async #runTools(turn: Turn, answer: Answer, calls: readonly RoundCall[], modelCallId: string): Promise<void> {
    const { checkpoint, turns } = turn;
    const argsById = new Map(calls.map(call => [call.callId, call.args]));
    const message: ModelMessage = {
      role: 'assistant',
      content: answer.messageParts(this.#modelKey, call => argsById.get(call.callId) ?? {}),
    };
    for (const call of calls) this.#startCard(call, modelCallId, turn);
    this.#toolCalls += calls.length;
    if (calls.some(call => call.refusal === undefined)) {
      checkpoint.state.pendingToolCalls = [writePending({ message, startedAtMs: this.#services.clock.now() })];
      await checkpoint.publish();
    }
    await this.#settle(turn, turns, message, await runRound(calls, turn.services, 'ask'));
    await this.#publish(turn);
  }

  #startCard(call: RoundCall, modelCallId: string, turn: Turn): void {
    const { tool, args, callId } = call;
    if (!tool) return;
    const context = { callId, facts: turn.services.facts };
    this.#cards.start(callId, modelCallId, tool.open(args, context), text => tool.close(args, text, context));
  }

  /** Takes an answer and the results of its calls into the history and its display side. */
  async #settle(turn: Turn, turns: Turns, message: ModelMessage, round: { message: ModelMessage; cards: ReadonlyMap<string, ToolCall> }): Promise<void> {
    turn.history.append(message);
    turn.history.append(round.message);
    appendSteps(turns, message, round.cards);
    turn.checkpoint.state.pendingToolCalls = [];
  }

  /** Takes the text of an answer without calls into the history. */
  #keepText(turn: Turn, answer: Answer): void {
    const content = answer.messageParts(this.#modelKey, () => ({})).filter(part => part.type !== 'tool-call');
    const message: ModelMessage = { role: 'assistant', content };
    if (textOfMessage(message).trim() === '') return;
    turn.history.append(message);
    appendSteps(turn.turns, message, new Map());
  }

  /** Brings the state up to what the history says, and publishes it. */
  async #publish(turn: Turn): Promise<void> {
    const { checkpoint, history, blobs, model, services } = turn;
    const { state } = checkpoint;
    state.rootPromptMessagesJson = [...history.references];
    state.turns = turn.turns.references();
    state.todos = todoReferences(blobs, services.todos);
    const sizes = measurePrompt(history.messages, turn.toolCharacters, turn.sizeOf, message => noteKindOf(message) !== undefined);
    const used = turn.lastUsage && usedTokens(turn.lastUsage);
    state.tokenDetails = tokenDetails(used ?? estimateTokens(sizes), model.info.contextWindow, sizes);
    await checkpoint.publish();
  }

  #notice(text: string): void {
    this.#update({ case: 'textDelta', value: { $typeName: 'agent.v1.TextDeltaUpdate', text, isServerNotice: true } });
  }

  #update(message: InteractionUpdate['message']): void {
    this.#outbox.append(updateMessage(message));
  }
}

/** What one turn carries from step to step. */
class Turn {
  readonly model: Model;
  readonly parameters: Record<string, string>;
  readonly blobs: RunBlobs;
  readonly checkpoint: Checkpoint;
  readonly history: History;
  readonly services: ToolServices;
  readonly tools: OfferedTools;
  readonly toolCharacters: number;
  /** Cards without arguments, sent with every piece of argument text. */
  readonly emptyCards = new Map<string, Card>();
  turns: Turns;
  lastUsage: Usage | undefined;
  readonly #sizes = new WeakMap<ModelMessage, number>();

  constructor(options: Pick<Turn, 'model' | 'parameters' | 'blobs' | 'checkpoint' | 'history' | 'services' | 'tools'>) {
    this.model = options.model;
    this.parameters = options.parameters;
    this.blobs = options.blobs;
    this.checkpoint = options.checkpoint;
    this.history = options.history;
    this.services = options.services;
    this.tools = options.tools;
    this.turns = Turns.after(options.blobs, options.checkpoint.state.turns);
    this.toolCharacters = JSON.stringify(options.tools.definitions).length;
  }

  /** Characters of a message, counted once. */
  readonly sizeOf = (message: ModelMessage): number => {
    let size = this.#sizes.get(message);
    if (size === undefined) {
      size = typeof message.content === 'string' ? message.content.length : JSON.stringify(message.content).length;
      this.#sizes.set(message, size);
    }
    return size;
  };
}

/** The card of a call whose arguments are still to come; undefined when no such tool was offered. */
function emptyCard(turn: Turn, call: AnswerCall): { open: Card; close: (text: string) => Card } | undefined {
  const tool = turn.tools.find(call.name);
  if (!tool) return undefined;
  const context = { callId: call.callId, facts: turn.services.facts };
  const open = tool.open({}, context);
  turn.emptyCards.set(call.callId, open);
  return { open, close: text => tool.close({}, text, context) };
}

function roundCall(
  tools: OfferedTools,
  { callId, name, raw, tool }: { callId: string; name: string; raw: string; tool: RoundCall['tool'] },
): RoundCall {
  if (!tool) return { callId, name, tool, args: {}, refusal: tools.unknownToolMessage(name) };
  const parsed = tools.parse(tool, raw);
  return parsed.ok ? { callId, name, tool, args: parsed.args } : { callId, name, tool, args: parsed.args, refusal: parsed.message };
}

function modelChoice(request: AgentRunRequest): ModelChoice | undefined {
  const requested = request.requestedModel;
  if (requested?.modelId) {
    return { modelId: requested.modelId, parameters: Object.fromEntries(requested.parameters.map(({ id, value }) => [id, value])) };
  }
  const modelId = request.modelDetails?.modelId;
  return modelId ? { modelId, parameters: {} } : undefined;
}

/** What a mode that is not built yet is answered with; undefined for agent mode. */
function noticeInsteadOf({ action }: ConversationAction): string | undefined {
  if (action.case !== 'userMessageAction') return undefined;
  const mode = action.value.userMessage?.mode ?? AgentMode.UNSPECIFIED;
  if (mode === AgentMode.UNSPECIFIED || mode === AgentMode.AGENT) return undefined;
  const name = (AgentMode[mode] ?? String(mode)).toLowerCase();
  return `The mode "${name}" is not available on this server yet. Nothing was done: switch to agent mode and send the message again.`;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, letter => '_' + letter.toLowerCase());
const fileUri = (path: string) => 'file://' + path.split('/').map(encodeURIComponent).join('/');

function notRetryable(told: Fault): Fault {
  const { name_, detail, cause, title, code, error, additionalInfo } = told;
  return fault(name_, detail, { cause, title, code, error, additionalInfo, retryable: false });
}
