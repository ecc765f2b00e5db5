import type { JsonObject } from '@bufbuild/protobuf';
import { deniedBecause, isHarmless } from './command.ts';
import { namedPaths, readsOnlyNamed } from './command-files.ts';
import type { Ask, PermissionQuestion } from './permission-question.ts';
import { decideByRules, parseRule, readFilter } from './permission-rule.ts';
import type { PermissionRule, RuleSubject } from './permission-rule.ts';

/** How much a server may do on this machine. */
export type PermissionMode = 'ask' | 'auto' | 'read-only';

/** The decision on one exec; a refusal has a reason that the model is told. */
export type Verdict = { allowed: true } | { allowed: false; reason: string; readOnly: boolean };

/** What would be decided: at once, or by a human. */
export type Judgement = Verdict | { ask: PermissionQuestion };

/** A file that is to be read, written or deleted, at its real path. */
export interface FileAccess {
  kind: 'read' | 'write' | 'delete';
  path: string;
  /** The absolute path by which it was named, when links may have led from there. */
  named?: string;
  /** Whether the path is in the workspace. */
  inside: boolean;
  /** The text that is to be written, for whoever is asked. */
  contents?: string | undefined;
}

/** A command that is to run in a real folder. `denied` are the patterns of the server's own administrator. */
export interface CommandAccess {
  command: string;
  workingDirectory: string;
  inside: boolean;
  denied: readonly string[];
}

/** A page that is to be fetched; `host` with its port, `isPrivate` when it is an address of this machine or network. */
export interface PageAccess {
  url: string;
  host: string;
  isPrivate: boolean;
}

/** What is unusual about an access; `liftedByRule` when an `allow` rule that names it is enough. */
interface Obstacle {
  reason: string;
  liftedByRule?: boolean;
}

const ALLOWED: Verdict = { allowed: true };

/**
 * Decides what a server may do (product.md, Permissions): reading always; `read-only` nothing else but commands known to be harmless;
 * `ask` by asking each time; `auto` all inside the workspace but the denylist, and what is left only by asking. Rules come first: a `deny`
 * holds in every mode, an `ask` asks also in `auto`, an `allow` saves the question; none of them widens `read-only`.
 */
export class Permission {
  readonly mode: PermissionMode;
  private readonly ask: Ask | undefined;
  private readonly root: string;
  private readonly rules: PermissionRule[];
  private readonly guarded: readonly string[];
  /** Commands that an administrator denies on this machine. */
  readonly deniedCommands: readonly string[];
  private readonly keep: ((rule: string) => void) | undefined;

  constructor(options: {
    mode: PermissionMode;
    ask?: Ask | undefined;
    /** The workspace, for rules about paths. */
    root?: string;
    rules?: readonly PermissionRule[];
    /** Files that hold the policy itself: changing them is asked in every mode. */
    guarded?: readonly string[];
    /** Commands that an administrator denies on this machine. */
    denied?: readonly string[];
    /** Keeps an `allow` rule for good, when the answer was `always`. */
    keep?: (rule: string) => void;
  }) {
    this.mode = options.mode;
    this.ask = options.ask;
    this.root = options.root ?? '/';
    this.rules = [...(options.rules ?? [])];
    this.guarded = options.guarded ?? [];
    this.deniedCommands = options.denied ?? [];
    this.keep = options.keep;
  }

  /** Whether decisions may wait for a human, for whom no deadline holds. */
  get waitsForHuman(): boolean {
    return this.ask !== undefined && this.mode !== 'read-only';
  }

  /** The rules in force, of one effect, as they were written. */
  ruleTexts(effect: PermissionRule['effect']): string[] {
    return this.rules.filter(rule => rule.effect === effect).map(rule => rule.text);
  }

  /**
   * Tells which rule hides a file from whoever searches or lists: one that forbids to read it, or that would have to ask first. Undefined when
   * no rule does. Paths are absolute, with links followed.
   */
  get hides(): ((path: string) => PermissionRule | undefined) | undefined {
    return readFilter(this.rules, this.mode === 'read-only' ? ['deny'] : ['deny', 'ask'], this.root);
  }

  /** Decides on reading; only rules can be against it. */
  async read(access: { path: string; named?: string; signal: AbortSignal }): Promise<Verdict> {
    const { signal, ...file } = access;
    return await this.settle(this.judgeFile({ kind: 'read', inside: true, ...file }), signal);
  }

  /** Decides on a change of a file. */
  async change(access: FileAccess & { signal: AbortSignal }): Promise<Verdict> {
    return await this.settle(this.judgeFile(access), access.signal);
  }

  async run(access: CommandAccess & { signal: AbortSignal }): Promise<Verdict> {
    return await this.settle(this.judgeCommand(access), access.signal);
  }

  async fetch(access: PageAccess & { signal: AbortSignal }): Promise<Verdict> {
    return await this.settle(this.judgePage(access), access.signal);
  }

  async callMcp(call: { server: string; tool: string; args: JsonObject; signal: AbortSignal }): Promise<Verdict> {
    return await this.settle(this.judgeMcp(call), call.signal);
  }

  /** Decides on starting an MCP server that the workspace brings along: that is a program of somebody else's choice. */
  async startMcp(
    server: Pick<PermissionQuestion, 'command' | 'workingDirectory' | 'url'> & { name: string; signal: AbortSignal },
  ): Promise<Verdict> {
    const { name, signal, ...what } = server;
    const question: PermissionQuestion = { kind: 'mcp-server', server: name, rule: `mcp-server: ${name}`, ...what };
    return await this.settle(this.judge({ tool: 'mcp-server', text: name }, question), signal);
  }

  judgeFile({ kind, path, named, inside, contents }: FileAccess): Judgement {
    if (kind === 'read') {
      const found = decideByRules(this.rules, { tool: 'read', text: path, named }, this.root);
      if (found?.effect === 'deny') return forbidden(found);
      return found?.effect === 'ask' && this.mode !== 'read-only'
        ? { ask: { kind, path, reason: `the rule "${found.text}" says so` } }
        : ALLOWED;
    }
    if (this.mode === 'read-only') return refuse(`this run is read-only, so ${path} was left alone`, true);
    const question: PermissionQuestion = {
      kind,
      path,
      ...(contents === undefined ? {} : { contents }),
      ...(inside ? { rule: `${kind}: **` } : {}),
    };
    if (this.guarded.includes(path))
      return this.judge({ tool: kind, text: path, named }, question, {
        reason: `${path} holds the permissions themselves`,
      });
    const outside = { reason: `${path} is outside of the workspace`, liftedByRule: true };
    return this.judge({ tool: kind, text: path, named }, question, inside ? undefined : outside);
  }

  judgeCommand({ command, workingDirectory, inside, denied }: CommandAccess): Judgement {
    const found = decideByRules(this.rules, { tool: 'shell', text: command }, this.root);
    if (found?.effect === 'deny') return forbidden(found);
    const bad = deniedBecause(command, [...denied, ...this.deniedCommands]);
    let isLooking = isHarmless(command) && bad === undefined && found?.effect !== 'ask';
    const { hides } = this;
    if (isLooking && hides !== undefined) {
      const hidden = namedPaths(command, workingDirectory)
        .map(hides)
        .filter(rule => rule !== undefined);
      const deny = hidden.find(rule => rule.effect === 'deny');
      if (deny !== undefined) return forbidden(deny);
      isLooking = hidden.length === 0 && readsOnlyNamed(command, workingDirectory);
    }
    if (isLooking) return ALLOWED;
    if (this.mode === 'read-only')
      return refuse('this run is read-only, and the command is not on the list of harmless ones', true);
    const reason = bad ?? (inside ? undefined : `${workingDirectory} is outside of the workspace`);
    const question: PermissionQuestion = { kind: 'shell', command, workingDirectory };
    if (command.trim() !== '') question.rule = `shell: =${command.trim()}`;
    return this.judge({ tool: 'shell', text: command }, question, reason === undefined ? undefined : { reason });
  }

  judgePage({ url, host, isPrivate }: PageAccess): Judgement {
    if (this.mode === 'read-only') return refuse('this run is read-only, so nothing is fetched', true);
    const local = { reason: `${host} is a loopback or private address, and no rule allows it`, liftedByRule: true };
    const question: PermissionQuestion = { kind: 'fetch', url, rule: `fetch: ${host}` };
    return this.judge({ tool: 'fetch', text: host }, question, isPrivate ? local : undefined);
  }

  judgeMcp({ server, tool, args }: { server: string; tool: string; args: JsonObject }): Judgement {
    if (this.mode === 'read-only') return refuse('this run is read-only, so no MCP tool is called', true);
    const text = `${server}/${tool}`;
    return this.judge({ tool: 'mcp', text }, { kind: 'mcp', server, tool, args, rule: `mcp: ${text}` });
  }

  /** The common part: rules, then the mode. An obstacle is something that not even `auto` allows without asking. */
  private judge(subject: RuleSubject, question: PermissionQuestion, obstacle?: Obstacle): Judgement {
    const found = decideByRules(this.rules, subject, this.root);
    if (found?.effect === 'deny') return forbidden(found);
    if (this.mode === 'read-only') return refuse('this run is read-only', true);
    if (found?.effect === 'ask')
      return { ask: { ...onceOnly(question), reason: obstacle?.reason ?? `the rule "${found.text}" says so` } };
    // A rule that names no place or address was not meant for the unusual ones.
    const isLifted = obstacle?.liftedByRule === true && found?.pattern !== undefined;
    if (obstacle !== undefined && !isLifted) {
      return { ask: { ...(obstacle.liftedByRule === true ? question : onceOnly(question)), reason: obstacle.reason } };
    }
    return found?.effect === 'allow' || this.mode === 'auto' ? ALLOWED : { ask: question };
  }

  private async settle(judgement: Judgement, signal: AbortSignal): Promise<Verdict> {
    if (!('ask' in judgement)) return judgement;
    const question = judgement.ask;
    if (this.mode === 'read-only') return refuse('this run is read-only', true);
    if (this.ask === undefined) {
      return refuse(`${question.reason ?? 'it needs leave'}, and nobody is here to be asked`, false);
    }
    const answer = await this.ask(question, signal);
    // A late yes must not do what nobody waits for any more.
    signal.throwIfAborted();
    if (answer === false || answer === 'no') return refuse('the user said no', false);
    if (question.rule !== undefined && (answer === 'conversation' || answer === 'always')) {
      this.rules.push(parseRule('allow', question.rule));
      if (answer === 'always') this.keep?.(question.rule);
    }
    return ALLOWED;
  }
}

function onceOnly({ rule: _rule, ...question }: PermissionQuestion): PermissionQuestion {
  return question;
}

function forbidden(rule: PermissionRule): Verdict {
  return refuse(`the rule "${rule.text}" forbids it`, false);
}

function refuse(reason: string, readOnly: boolean): Verdict {
  return { allowed: false, reason, readOnly };
}
