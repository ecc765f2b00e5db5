import { Fault, fault } from '@tandem/protocol';
import { AgentMode } from '@tandem/protocol/agent';
import type { AgentRunRequest, ConversationAction, RequestContext } from '@tandem/protocol/agent';
import { ExecBridge } from '../bridge/exec.ts';
import { KvBridge } from '../bridge/kv.ts';
import { updateMessage } from '../bridge/outbox.ts';
import type { Outbox } from '../bridge/outbox.ts';
import type { Clock } from '../clock.ts';
import { RunBlobs } from '../conversation/blobs.ts';
import { Checkpoint } from '../conversation/checkpoint.ts';
import { History } from '../conversation/history.ts';
import { readPending } from '../conversation/pending-calls.ts';
import { restoreTodos } from '../conversation/todos.ts';
import type { Identity } from '../identity.ts';
import { takeCredentials } from '../credentials/run-credentials.ts';
import type { RunCredentials } from '../credentials/run-credentials.ts';
import type { Catalogue } from '../model/port.ts';
import type { CallLimits } from '../model/retry.ts';
import type { Log } from '../observe/log.ts';
import type { Scope, Store } from '../store/port.ts';
import { buildMcpTable } from '../tools/mcp-table.ts';
import type { ToolFacts } from '../tools/tool.ts';
import type { BudgetOf } from '../usage/budget.ts';
import { Meter } from '../usage/meter.ts';
import { RunAccount } from './account.ts';
import { Cards } from './cards.ts';
import { loadContext } from './context.ts';
import { Injections } from './injections.ts';
import { ignoredNotice, modelChoice, resolveModel } from './model-choice.ts';
import { loadRunParts } from './parts.ts';
import { turnEnded } from './usage.ts';

/** What every run of a server shares. */
export interface RunServices {
  readonly catalogue: Catalogue;
  readonly store: Store;
  readonly clock: Clock;
  readonly identity: Identity;
  readonly log: Log;
  readonly callLimits: CallLimits;
  /** What owners may spend; nothing is bounded when absent. */
  readonly budgetOf?: BudgetOf;
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
  readonly account: RunAccount;
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * A run is `working` from its first message to its end; only then may it speak. `ended` is final: whatever still goes on in its
 * promises finds a closed outbox (R21, R53).
 */
type RunState = { tag: 'working' } | { tag: 'ended' };

/** Faults of the way between client and server: a new attempt goes on where this one stood, whatever was shown (R54). */
const TRANSPORT = new Set<Fault['name_']>(['append_gap', 'buffer_overflow', 'placeholder_expired', 'shutting_down']);

/** One agent run: restores the conversation, works one turn of it, ends once. */
export class Run {
  readonly conversationId: string;
  readonly runId: string;
  readonly exec: ExecBridge;
  readonly kv: KvBridge;
  readonly #request: AgentRunRequest;
  readonly #credentials: RunCredentials | undefined;
  readonly #facts: RunRequestFacts;
  readonly #services: RunServices;
  readonly #outbox: Outbox;
  readonly #onEnd: (end: RunEnd) => void;
  readonly #abort = new AbortController();
  readonly #account = new RunAccount();
  readonly #cards: Cards;
  readonly #injections: Injections;
  readonly #log: Log;
  readonly #startedAt: number;
  #state: RunState = { tag: 'working' };

  constructor(options: {
    request: AgentRunRequest;
    facts: RunRequestFacts;
    services: RunServices;
    outbox: Outbox;
    onEnd: (end: RunEnd) => void;
  }) {
    const { request, facts, services, outbox } = options;
    const { clock, identity, store, log } = services;
    this.#credentials = takeCredentials(request);
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
      appendText: (branch, text) => {
        if (this.#state.tag === 'working') outbox.appendText(branch, text);
      },
      ready: () => outbox.ready(),
      reader: () => outbox.reader(),
    };
    const { scope, requestId } = facts;
    const { conversationId } = this;
    this.kv = new KvBridge({ outbox: this.#outbox, clock, log });
    this.exec = new ExecBridge({
      outbox: this.#outbox,
      clock,
      log,
      ledger: store.ledger,
      scope,
      requestId,
      conversationId,
    });
    this.#cards = new Cards(this.#outbox, () => clock.now());
    this.#injections = new Injections(this.#outbox, this.runId);
  }

  /** Works the run to its end; never rejects. */
  async start(): Promise<void> {
    try {
      await this.#work();
      this.#injections.close();
      this.#outbox.append(updateMessage({ case: 'turnEnded', value: turnEnded(this.#account.usage) }));
      this.#finish(undefined);
    } catch (error) {
      if (this.#state.tag === 'ended') return;
      const told = Fault.from(error);
      if (told.name_ === 'internal')
        this.#log.error({ requestId: this.#facts.requestId, error }, 'a run failed by a fault of this server');
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
      const { reason } = action.value;
      this.cancel(fault('canceled', reason ? `Canceled by the client: ${reason}` : 'Canceled by the client.'));
    } else if (action.case === 'injectContextAction') {
      this.#injections.add(action.value);
    } else
      this.#log.warn(
        { requestId: this.#facts.requestId, action: action.case },
        'an action that a running run does not take was ignored',
      );
  }

  #finish(told: Fault | undefined): void {
    if (this.#state.tag === 'ended') return;
    const reason = told && this.#account.isShown && !TRANSPORT.has(told.name_) ? notRetryable(told) : told;
    if (reason) this.#closeOpen(reason);
    this.#state = { tag: 'ended' };
    this.#abort.abort(reason ?? new Error('the run is over'));
    this.#onEnd({
      fault: reason,
      account: this.#account,
      startedAt: this.#startedAt,
      endedAt: this.#services.clock.now(),
    });
  }

  /** Aborts execs, closes cards, answers what was injected (R21, R33). A fault in here must not keep the stream open (F10). */
  #closeOpen(reason: Fault): void {
    try {
      this.exec.close(reason);
      this.#cards.closeAll(
        reason.code === 'canceled' ? 'The call was cancelled.' : `The call was ended: ${reason.detail}`,
      );
      this.#injections.close();
      this.kv.close(reason);
    } catch (error) {
      this.#log.error({ requestId: this.#facts.requestId, error }, 'what a run had open could not be closed in order');
    }
  }

  async #work(): Promise<void> {
    const { clock, store, catalogue, identity, callLimits, budgetOf = () => undefined } = this.#services;
    const request = this.#request;
    const { requestId, scope, allowedTools, excludedTools } = this.#facts;
    const signal = this.#abort.signal;
    const log = this.#log;
    const action = request.action;
    if (!action?.action.case) {
      throw fault(
        'bad_request',
        'run_request.action is missing. Set one of its branches, for example user_message_action.',
      );
    }
    const choice = modelChoice(request, this.#credentials, this.conversationId);
    const { model, parameters, ignored, route, isOwnKey = false } = await resolveModel(catalogue, choice);
    this.#account.modelKey = model.info.key;
    const blobs = new RunBlobs({ kv: this.kv, cache: store.blobs, scope, preFetched: request.preFetchedBlobs });
    const checkpoint = new Checkpoint({ outbox: this.#outbox, blobs, brought: request.conversationState });
    const { state } = checkpoint;
    if (await this.#isAnsweredByNotice(action, checkpoint)) return;
    if (action.action.case !== 'resumeAction' && action.action.case !== 'userMessageAction') {
      throw fault(
        'unsupported_action',
        `${snakeCase(action.action.case)} comes in a later version of tandem. Send a user_message_action.`,
      );
    }

    const [{ offerTools, Turn, resumeAction, userMessageAction }, context, history, todos] = await Promise.all([
      loadRunParts(),
      loadContext({ action, blobs, exec: this.exec, signal, log }),
      History.restore(blobs, state.rootPromptMessagesJson),
      restoreTodos(blobs, state.todos, log),
    ]);
    const facts = toolFacts(request, context, model.info.vision);
    const tools = offerTools(facts, { allowed: allowedTools, excluded: excludedTools });
    const turn = new Turn({
      request,
      requestId,
      outbox: this.#outbox,
      account: this.#account,
      meter: new Meter({ book: store.usage, budgetOf, clock, log }).of({
        scope,
        conversationId: this.conversationId,
        runId: this.runId,
        model: model.info,
        isOwnKey,
      }),
      injections: this.#injections,
      identity,
      callLimits,
      model,
      parameters,
      blobs,
      checkpoint,
      history,
      tools,
      services: { facts, exec: this.exec, cards: this.#cards, clock, log, signal, todos },
    });
    if (route !== undefined && request.clientSupportsRoutedModelUpdate) {
      turn.update({
        case: 'routedModel',
        value: { $typeName: 'agent.v1.RoutedModelUpdate', displayName: model.info.name },
      });
    }
    const notice = ignoredNotice(model.info, ignored);
    if (notice !== undefined) turn.notice(notice);
    const pending = readPending(state.pendingToolCalls);
    if (pending.unreadable > 0)
      log.warn(
        { requestId, unreadable: pending.unreadable },
        'entries of pending_tool_calls could not be read and count as interrupted',
      );
    if (action.action.case === 'resumeAction') await resumeAction(turn, pending);
    else await userMessageAction(turn, action.action.value, pending);
  }

  /** A mode that is not built yet is answered with a notice, and nothing is done: better than working in another mode. */
  async #isAnsweredByNotice({ action }: ConversationAction, checkpoint: Checkpoint): Promise<boolean> {
    if (action.case !== 'userMessageAction') return false;
    const mode = action.value.userMessage?.mode ?? AgentMode.UNSPECIFIED;
    if (mode === AgentMode.UNSPECIFIED || mode === AgentMode.AGENT) return false;
    const name = (AgentMode[mode] ?? String(mode)).toLowerCase();
    const text = `The mode "${name}" comes in a later version of tandem. Nothing was done: switch to agent mode and send the message again.`;
    this.#outbox.append(
      updateMessage({
        case: 'textDelta',
        value: { $typeName: 'agent.v1.TextDeltaUpdate', text, isServerNotice: true },
      }),
    );
    await checkpoint.publish();
    return true;
  }
}

function toolFacts(request: AgentRunRequest, context: RequestContext | undefined, vision: boolean): ToolFacts {
  const env = context?.env;
  const workspacePaths = env?.workspacePaths.length
    ? env.workspacePaths
    : env?.processWorkingDirectory
      ? [env.processWorkingDirectory]
      : [];
  return {
    context,
    workspacePaths,
    terminalsFolder: env?.terminalsFolder ?? '',
    mcp: buildMcpTable([request.mcpTools?.mcpTools ?? [], context?.tools ?? []], context),
    vision,
  };
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, letter => '_' + letter.toLowerCase());

/** The same fault for a run whose whole replay would show or do things twice (R54, F89). */
function notRetryable(told: Fault): Fault {
  if (!told.retryable) return told;
  const { name_, detail, cause, title, code, error, additionalInfo } = told;
  return fault(name_, detail, { cause, title, code, error, additionalInfo, retryable: false });
}
