import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { trackChild } from '../child-group.ts';

/** Longest message of a server; images come within. */
const MESSAGE_CAP = 64 * 1024 * 1024;

/** Last words on standard error that are kept, to tell why a server ended. */
const COMPLAINTS_CAP = 2_000;

/** Lines that are no messages before a server counts as something else; some greet on standard output. */
const GARBAGE_CAP = 1_000;

/** A server that was told to end is given this long before it is killed. */
const END_GRACE = 1_000;

/**
 * An MCP server as a process of its own, in a group of its own, spoken to by lines of JSON. It does not keep this process alive, and ends
 * with it. Lines that are no JSON objects are skipped, up to a bound.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The end of what it wrote to standard error. */
  complaints = '';
  private readonly options: { command: string; args: string[]; env: NodeJS.ProcessEnv; cwd: string };
  private child: ChildProcess | undefined;
  private untrack: () => void = () => undefined;
  private parts: string[] = [];
  private length = 0;
  private garbage = 0;
  private closed = false;

  constructor(options: { command: string; args: string[]; env: NodeJS.ProcessEnv; cwd: string }) {
    this.options = options;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.options;
    const child = spawn(command, args, {
      cwd,
      env,
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child = child;
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    this.untrack = trackChild(child);
    const decoder = new StringDecoder('utf8');
    child.stdout?.on('data', (chunk: Buffer) => this.read(decoder.write(chunk)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.complaints = (this.complaints + text).slice(-COMPLAINTS_CAP);
    });
    // A pipe that breaks is told by the end of the process.
    child.stdin?.on('error', () => undefined);
    child.on('error', error => this.onerror?.(error));
    child.once('close', (code, signal) => {
      this.untrack();
      if (this.complaints === '' && !this.closed) this.complaints = `it ended with ${signal ?? `code ${code}`}`;
      this.finish();
    });
    child.unref();
    for (const pipe of child.stdio) (pipe as { unref?: () => void } | null)?.unref?.();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const pipe = this.child?.stdin;
    if (pipe === undefined || pipe === null || !pipe.writable)
      return Promise.reject(new Error('the MCP server is not running'));
    return new Promise((resolve, reject) => {
      pipe.write(`${JSON.stringify(message)}\n`, error => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    const child = this.child;
    this.closed = true;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return this.finish();
    const gone = new Promise<void>(resolve => child.once('exit', () => resolve()));
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>(resolve => (timer = setTimeout(() => resolve('late'), END_GRACE)));
      const outcome = await Promise.race([gone, late]);
      clearTimeout(timer);
      if (outcome !== 'late') break;
      killGroup(child, signal);
    }
    this.untrack();
    this.finish();
  }

  private read(text: string): void {
    let from = 0;
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      this.take(this.parts.join('') + text.slice(from, to));
      this.parts = [];
      this.length = 0;
      from = to + 1;
    }
    if (from >= text.length) return;
    this.parts.push(text.slice(from));
    this.length += text.length - from;
    if (this.length > MESSAGE_CAP) this.giveUp(`a message of it is longer than ${MESSAGE_CAP} characters`);
  }

  private take(line: string): void {
    if (line.trim() === '' || this.closed) return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      message = undefined; // a greeting or a log line on the wrong output
    }
    if (typeof message === 'object' && message !== null) return this.onmessage?.(message as JSONRPCMessage);
    if (++this.garbage > GARBAGE_CAP) this.giveUp('it writes lines that are no JSON');
  }

  private giveUp(reason: string): void {
    this.complaints = reason;
    this.onerror?.(new Error(reason));
    if (this.child !== undefined) killGroup(this.child, 'SIGKILL');
  }

  private finish(): void {
    const onclose = this.onclose;
    delete this.onclose;
    onclose?.();
  }
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (process.platform === 'win32' || child.pid === undefined) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // the group is gone
  }
}
