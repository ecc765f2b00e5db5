import { deniedBecause, isHarmless } from './command.ts';

/** How much a server may do on this machine. */
export type PermissionMode = 'ask' | 'auto' | 'read-only';

/** What a human is asked before something is done. What it shows is what runs. */
export interface PermissionQuestion {
  kind: 'write' | 'delete' | 'shell';
  /** The real path that would be changed. */
  path?: string;
  /** The command as it would be given to the shell, and the folder it would run in. */
  command?: string;
  workingDirectory?: string;
  /** Why it is asked although `auto` would allow the ordinary case. */
  reason?: string;
}

/** Asks a human; true allows it this once. The signal withdraws the question: what it was about is not wanted any more. */
export type Ask = (question: PermissionQuestion, signal: AbortSignal) => Promise<boolean>;

/** The decision on one exec; a refusal has a reason that the model is told. */
export type Verdict = { allowed: true } | { allowed: false; reason: string; readOnly: boolean };

const ALLOWED: Verdict = { allowed: true };

/**
 * Decides what a server may do (product.md, Permissions): reading always; `read-only` nothing else but commands known to be harmless;
 * `ask` by asking each time; `auto` all inside the workspace but the denylist, and what is left only by asking.
 */
export class Permission {
  private readonly mode: PermissionMode;
  private readonly ask: Ask | undefined;

  constructor(options: { mode: PermissionMode; ask?: Ask | undefined }) {
    this.mode = options.mode;
    this.ask = options.ask;
  }

  /** Whether decisions may wait for a human, for whom no deadline holds. */
  get waitsForHuman(): boolean {
    return this.ask !== undefined && this.mode !== 'read-only';
  }

  /** A file is to be written or deleted at a real path. */
  async change(change: {
    kind: 'write' | 'delete';
    path: string;
    inside: boolean;
    signal: AbortSignal;
  }): Promise<Verdict> {
    const { kind, path, inside, signal } = change;
    if (this.mode === 'read-only') return refuse(`this run is read-only, so ${path} was left alone`, true);
    if (this.mode === 'auto' && inside) return ALLOWED;
    const outside = `${path} is outside of the workspace`;
    return await this.decide(
      { kind, path, ...(inside ? {} : { reason: outside }) },
      inside ? undefined : outside,
      signal,
    );
  }

  /** A command is to run in a real folder. `denied` are the patterns of the server's own administrator. */
  async run(run: {
    command: string;
    workingDirectory: string;
    inside: boolean;
    denied: readonly string[];
    signal: AbortSignal;
  }): Promise<Verdict> {
    const { command, workingDirectory } = run;
    const denied = deniedBecause(command, run.denied);
    if (isHarmless(command) && denied === undefined) return ALLOWED;
    if (this.mode === 'read-only')
      return refuse('this run is read-only, and the command is not on the list of harmless ones', true);
    const reason = denied ?? (run.inside ? undefined : `${workingDirectory} is outside of the workspace`);
    if (this.mode === 'auto' && reason === undefined) return ALLOWED;
    return await this.decide(
      { kind: 'shell', command, workingDirectory, ...(reason === undefined ? {} : { reason }) },
      reason,
      run.signal,
    );
  }

  private async decide(
    question: PermissionQuestion,
    reason: string | undefined,
    signal: AbortSignal,
  ): Promise<Verdict> {
    if (this.ask === undefined) return refuse(`${reason ?? 'it needs leave'}, and nobody is here to be asked`, false);
    const allowed = await this.ask(question, signal);
    // A late yes must not do what nobody waits for any more.
    signal.throwIfAborted();
    if (allowed) return ALLOWED;
    return refuse('the user said no', false);
  }
}

function refuse(reason: string, readOnly: boolean): Verdict {
  return { allowed: false, reason, readOnly };
}
