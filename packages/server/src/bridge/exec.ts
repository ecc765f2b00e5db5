import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import type { ExecQuestion } from '@tandem/protocol';
import {
  DeleteArgsSchema,
  DiagnosticsArgsSchema,
  ExecClientMessageSchema,
  ExecServerControlMessageSchema,
  ExecServerMessageSchema,
  GrepArgsSchema,
  LsArgsSchema,
  McpArgsSchema,
  McpStateExecArgsSchema,
  ReadArgsSchema,
  RequestContextArgsSchema,
  ShellArgsSchema,
  WriteArgsSchema,
} from '@tandem/protocol/agent';
import type {
  DeleteResult,
  DiagnosticsResult,
  ExecClientControlMessage,
  ExecClientMessage,
  ExecServerMessage,
  GrepResult,
  LsResult,
  McpResult,
  McpStateExecResult,
  ReadResult,
  RequestContext,
  RequestContextResult,
  ShellStream,
  WriteResult,
} from '@tandem/protocol/agent';
import { breathe } from '../breathe.ts';
import type { Clock } from '../clock.ts';
import {
  CLOSED_GRACE_MS,
  CONTEXT_WAIT_MS,
  EXEC_MAX_MS,
  EXEC_WAIT_MS,
  LEDGER_STREAM_BYTES,
  MCP_MAX_MS,
  SHELL_MAX_MS,
  SHELL_WAIT_MS,
} from '../limits.ts';
import type { Log } from '../observe/log.ts';
import type { Ledger, Scope } from '../store/port.ts';
import { hash } from 'node:crypto';
import { endsShellStream, readExecAnswer, settlesExec } from './exec-answer.ts';
import { ExecFailure } from './exec-failure.ts';
import { serverMessage } from './outbox.ts';
import type { Outbox } from './outbox.ts';
import { PendingTable } from './pending.ts';
import type { Patience, Pending } from './pending.ts';

/**
 * The client's hands, as one tool call sees them (§17, R28–R35): no ids, no deadlines, no ledger. Every method rejects with an
 * ExecFailure when the client threw, closed without an answer, answered the wrong thing, or stayed silent too long. Typed
 * failures (`file_not_found`, `rejected`, …) are answers and do not reject.
 */
export interface Exec {
  read(args: MessageInitShape<typeof ReadArgsSchema>): Promise<ReadResult>;
  write(args: MessageInitShape<typeof WriteArgsSchema>): Promise<WriteResult>;
  delete(args: MessageInitShape<typeof DeleteArgsSchema>): Promise<DeleteResult>;
  grep(args: MessageInitShape<typeof GrepArgsSchema>): Promise<GrepResult>;
  ls(args: MessageInitShape<typeof LsArgsSchema>): Promise<LsResult>;
  diagnostics(args: MessageInitShape<typeof DiagnosticsArgsSchema>): Promise<DiagnosticsResult>;
  mcp(args: MessageInitShape<typeof McpArgsSchema>): Promise<McpResult>;
  mcpState(args: MessageInitShape<typeof McpStateExecArgsSchema>): Promise<McpStateExecResult>;
  /**
   * Runs a command. `onEvent` sees every event in order; resolves with the event that ended it (exit, backgrounded, rejected,
   * permission_denied, sandbox_unsupported), rejects with `closed` when the stream closed before one came (R30).
   */
  shellStream(
    args: MessageInitShape<typeof ShellArgsSchema>,
    onEvent: (event: ShellStream['event']) => void,
  ): Promise<ShellStream['event']>;
}

/** Which tool call asks, and whether what it asks may have been answered in an earlier attempt (R48). */
export interface ExecCall {
  readonly callId: string;
  readonly signal: AbortSignal;
  /**
   * `ask`: a new call. `replay`: a call of an earlier attempt, answered from the ledger as far as that goes, then by the
   * client. `ledger`: answered from the ledger alone; what is not there was interrupted.
   */
  readonly from: 'ask' | 'replay' | 'ledger';
}

interface Question {
  readonly kind: ExecQuestion;
  /** Undefined for what no tool asked: the request context. */
  readonly callId: string | undefined;
  readonly step: number;
  readonly argsHash: Uint8Array;
  recordedBytes: number;
  onEvent?: (event: ShellStream['event']) => void;
  settle(value: unknown): void;
  fail(failure: Error): void;
}

const FILES: Patience = { waitMs: EXEC_WAIT_MS, maxMs: EXEC_MAX_MS };
const MCP: Patience = { waitMs: EXEC_WAIT_MS, maxMs: MCP_MAX_MS };
const CONTEXT: Patience = { waitMs: CONTEXT_WAIT_MS, maxMs: CONTEXT_WAIT_MS * 3 };
/** What clients say when they have no hands for an exec (R35). */
const NO_HANDLER = /no handler|not (enabled|supported|available|implemented)|unsupported|unimplemented/i;

/**
 * The execs of one request stream (§17, §18). Numbers, deadlines, abort, mismatch and the ledger are its business; tools see
 * only {@link Exec}.
 */
export class ExecBridge {
  readonly #outbox: Outbox;
  readonly #log: Log;
  readonly #ledger: Ledger;
  readonly #scope: Scope;
  readonly #conversationId: string;
  readonly #requestId: string;
  readonly #open: PendingTable<Question>;
  /** What tools still asked when the run ended, by number: an answer on its way is acknowledged, so it is kept too (R48). */
  readonly #owed = new Map<number, Question>();
  #over: Error | undefined;

  constructor(options: {
    outbox: Outbox;
    clock: Clock;
    log: Log;
    ledger: Ledger;
    scope: Scope;
    conversationId: string;
    requestId: string;
  }) {
    this.#outbox = options.outbox;
    this.#log = options.log;
    this.#ledger = options.ledger;
    this.#scope = options.scope;
    this.#conversationId = options.conversationId;
    this.#requestId = options.requestId;
    this.#open = new PendingTable(options.clock);
  }

  /** The hands of one tool call. Its execs are counted in the order it asks, so that a second attempt asks the same ones. */
  forCall(call: ExecCall): Exec {
    let step = 0;
    let records: Promise<ReplayedStep[]> | undefined;
    const ask = async <Answer>(
      kind: ExecQuestion,
      schema: DescMessage,
      init: Record<string, unknown>,
      patience: Patience,
      onEvent?: (event: ShellStream['event']) => void,
    ): Promise<Answer> => {
      const mine = step++;
      const args = create(schema, init as MessageInitShape<typeof schema>);
      const argsHash = hash('sha256', toBinary(schema, args), 'buffer');
      if (call.from !== 'ask') {
        records ??= this.#replayedSteps(call.callId);
        const known = (await records).find(one => one.step === mine && Buffer.compare(one.argsHash, argsHash) === 0);
        if (known) return replay(kind, known.messages, onEvent) as Answer;
      }
      if (call.from === 'ledger')
        throw new ExecFailure('aborted', 'Error: this call was interrupted before it had a result.');
      return (await this.#ask(
        kind,
        args,
        patience,
        { callId: call.callId, step: mine, argsHash },
        call.signal,
        onEvent,
      )) as Answer;
    };
    return {
      read: args => ask<ReadResult>('readArgs', ReadArgsSchema, args, FILES),
      write: args => ask<WriteResult>('writeArgs', WriteArgsSchema, args, FILES),
      delete: args => ask<DeleteResult>('deleteArgs', DeleteArgsSchema, args, FILES),
      grep: args => ask<GrepResult>('grepArgs', GrepArgsSchema, args, FILES),
      ls: args => ask<LsResult>('lsArgs', LsArgsSchema, args, FILES),
      diagnostics: args => ask<DiagnosticsResult>('diagnosticsArgs', DiagnosticsArgsSchema, args, FILES),
      mcp: args => ask<McpResult>('mcpArgs', McpArgsSchema, args, MCP),
      mcpState: args => ask<McpStateExecResult>('mcpStateExecArgs', McpStateExecArgsSchema, args, FILES),
      shellStream: (args, onEvent) =>
        ask<ShellStream['event']>('shellStreamArgs', ShellArgsSchema, args, shellPatience(args.timeout ?? 0), onEvent),
    };
  }

  /** Asks for the request context (R43); undefined when the client will not or cannot give one. */
  async requestContext(signal: AbortSignal): Promise<RequestContext | undefined> {
    const args = create(RequestContextArgsSchema, {});
    try {
      const nobody = { callId: undefined, step: 0, argsHash: new Uint8Array(0) };
      const answer = (await this.#ask('requestContextArgs', args, CONTEXT, nobody, signal)) as RequestContextResult;
      if (answer.result.case === 'success') return answer.result.value.requestContext;
      this.#log.warn({ answer: answer.result.case }, 'the client gave no request context');
    } catch (error) {
      if (!(error instanceof ExecFailure) || error.reason === 'aborted') throw error;
      this.#log.warn({ reason: error.reason }, 'the client gave no request context');
    }
    return undefined;
  }

  async #ask(
    kind: ExecQuestion,
    args: object,
    patience: Patience,
    call: Pick<Question, 'callId' | 'step' | 'argsHash'>,
    signal: AbortSignal,
    onEvent?: (event: ShellStream['event']) => void,
  ): Promise<unknown> {
    await this.#outbox.reader();
    if (this.#over) throw this.#over;
    if (signal.aborted) throw aborted();
    return new Promise((resolve, reject) => {
      const question: Question = {
        ...call,
        kind,
        recordedBytes: 0,
        ...(onEvent ? { onEvent } : {}),
        settle: value => {
          signal.removeEventListener('abort', onAbort);
          resolve(value);
        },
        fail: failure => {
          signal.removeEventListener('abort', onAbort);
          reject(failure);
        },
      };
      const pending = this.#open.open(question, patience, () => {
        this.#abortOnWire(pending.id);
        question.fail(
          new ExecFailure(
            'expired',
            `Error: the client did not answer ${kind} in time (${Math.round(patience.waitMs / 1000)} s without a sign of life).`,
          ),
        );
      });
      const onAbort = () => {
        if (!this.#open.close(pending.id)) return;
        this.#abortOnWire(pending.id);
        question.fail(aborted());
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const message = { case: kind, value: args } as ExecServerMessage['message'];
      this.#outbox.append(
        serverMessage({
          case: 'execServerMessage',
          value: create(ExecServerMessageSchema, {
            id: pending.id,
            execId: `${this.#requestId}/${pending.id}`,
            message,
          }),
        }),
      );
    });
  }

  #abortOnWire(id: number): void {
    this.#outbox.append(
      serverMessage({
        case: 'execServerControlMessage',
        value: create(ExecServerControlMessageSchema, { message: { case: 'abort', value: { id } } }),
      }),
    );
  }

  /**
   * Writes an answer to the ledger; its append may be acknowledged once this resolved (R7, R48). Answers to nobody, and the
   * middle of very long outputs, are not kept.
   */
  async record(message: ExecClientMessage, seqno: number): Promise<void> {
    const question = this.#find(message)?.value ?? this.#owed.get(message.id);
    if (question?.callId === undefined) return;
    const bytes = toBinary(ExecClientMessageSchema, message);
    const ends = settlesExec(message.message);
    if (!ends && question.recordedBytes + bytes.length > LEDGER_STREAM_BYTES) return;
    question.recordedBytes += bytes.length;
    const { callId, step, argsHash } = question;
    await breathe(bytes.length);
    await this.#ledger.recordExec(this.#scope, {
      conversationId: this.#conversationId,
      callId,
      step,
      requestId: this.#requestId,
      argsHash,
      seqno,
      bytes,
    });
  }

  /** The open question of an answer: by its number, and by its exec_id where the client sends one back (R14). */
  #find({ id, execId }: ExecClientMessage): Pending<Question> | undefined {
    return execId === '' || execId === `${this.#requestId}/${id}` ? this.#open.get(id) : undefined;
  }

  /** An answer of the client, in order. */
  deliver(message: ExecClientMessage): void {
    const pending = this.#find(message);
    if (!pending) {
      this.#log.warn(
        { id: message.id, branch: message.message.case },
        'an exec answer to no open question was ignored',
      );
      return;
    }
    const { value: question } = pending;
    if (question.kind === 'shellStreamArgs' && message.message.case === 'shellStream') {
      const { event } = message.message.value;
      pending.renew();
      if (event.case !== undefined) question.onEvent?.(event);
      if (!endsShellStream(event)) return;
      this.#open.close(message.id);
      question.settle(event);
      return;
    }
    this.#open.close(message.id);
    try {
      question.settle(readExecAnswer(question.kind, message.message));
    } catch (error) {
      question.fail(error as Error);
    }
  }

  /** What the client says of an exec's channel (§11): `stream_close` is no result, `throw` fails that call alone (R29). */
  control({ message }: ExecClientControlMessage): void {
    if (message.case === undefined) return;
    const { id } = message.value;
    const pending = this.#open.get(id);
    if (!pending) {
      if (message.case === 'throw') this.#log.warn({ id }, 'a throw for no open exec was ignored');
      return;
    }
    const { value: question } = pending;
    if (message.case === 'heartbeat') pending.renew();
    else if (message.case === 'streamClose')
      pending.shorten(CLOSED_GRACE_MS, () => question.fail(closed(question.kind)));
    else {
      this.#open.close(id);
      question.fail(thrown(question.kind, message.value.error));
    }
  }

  /** Aborts every open exec, telling the client, and refuses further ones (R33). Does not wait for the client. */
  close(reason: Error): void {
    this.#over = reason;
    this.#open.drain((pending: Pending<Question>) => {
      this.#abortOnWire(pending.id);
      if (pending.value.callId !== undefined) this.#owed.set(pending.id, pending.value);
      pending.value.fail(aborted());
    });
  }

  /** Whether the run ended while answers may have been on their way. */
  get isOwedAnswers(): boolean {
    return this.#owed.size > 0;
  }

  async #replayedSteps(callId: string): Promise<ReplayedStep[]> {
    const steps: ReplayedStep[] = [];
    for (const record of await this.#ledger.execRecords(this.#scope, this.#conversationId, callId)) {
      const message = fromBinary(ExecClientMessageSchema, record.bytes).message;
      const { step, argsHash, requestId } = record;
      // two attempts may have asked the same: what the first heard before it died is no beginning of what the second heard
      const same = steps.find(
        one => one.step === step && one.requestId === requestId && Buffer.compare(one.argsHash, argsHash) === 0,
      );
      if (same) same.messages.push(message);
      else steps.push({ step, argsHash, requestId, messages: [message] });
    }
    return steps.filter(({ messages }) => messages.some(settlesExec));
  }
}

interface ReplayedStep {
  readonly step: number;
  readonly requestId: string;
  readonly argsHash: Uint8Array;
  readonly messages: ExecClientMessage['message'][];
}

function replay(
  kind: ExecQuestion,
  messages: readonly ExecClientMessage['message'][],
  onEvent?: (event: ShellStream['event']) => void,
): unknown {
  for (const message of messages) {
    if (kind !== 'shellStreamArgs' || message.case !== 'shellStream') return readExecAnswer(kind, message);
    const { event } = message.value;
    if (event.case !== undefined) onEvent?.(event);
    if (endsShellStream(event)) return event;
  }
  throw closed(kind);
}

/** Foreground time, and then room for the client to say that the command went to the background. */
function shellPatience(timeout: number): Patience {
  return { waitMs: timeout + SHELL_WAIT_MS, maxMs: SHELL_MAX_MS };
}

const aborted = () => new ExecFailure('aborted', 'Error: the call was cancelled.');

function closed(kind: ExecQuestion): ExecFailure {
  return kind === 'shellStreamArgs'
    ? new ExecFailure(
        'closed',
        'Error: the stream of the command closed before it said how it ended. Its exit status is unknown.',
      )
    : new ExecFailure('closed', `Error: the client closed ${kind} without a result.`);
}

function thrown(kind: ExecQuestion, error: string): ExecFailure {
  return NO_HANDLER.test(error)
    ? new ExecFailure('unavailable', `Error: this tool is not available here: the client cannot do ${kind} (${error}).`)
    : new ExecFailure('thrown', `Error: the client failed at ${kind}: ${error || 'it gave no reason'}`);
}
