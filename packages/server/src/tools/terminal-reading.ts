import { tailOf } from './excerpt.ts';
import { AWAIT_TAIL_CHARACTERS } from './limits.ts';
import { readProblem } from './read.ts';
import { readTerminal } from './terminal-file.ts';
import type { TerminalFooter } from './terminal-file.ts';
import type { ToolContext } from './tool.ts';

/** What one look at the file brought: new text (with the last, perhaps unfinished line of the look before), or a problem. */
export type TerminalPiece = { text: string; more: boolean } | { problem: string; missing: boolean };

/** A terminal file, read on from look to look so that a long output crosses the wire once (R30). */
export class TerminalFile {
  readonly path: string;
  /** Characters of the file read so far, its header and footer with them. */
  length = 0;
  /** The end of what the command printed. */
  tail = '';
  footer: TerminalFooter | undefined;
  readonly #context: ToolContext;
  readonly #shellId: string;
  #line = 1;
  #unfinished = 0;
  #raw = '';

  constructor(shellId: string, context: ToolContext) {
    this.#shellId = shellId;
    this.#context = context;
    this.path = `${context.facts.terminalsFolder.replace(/[\\/]+$/, '')}/${shellId}.txt`;
  }

  async readOn(): Promise<TerminalPiece> {
    const from = this.#line;
    const answer = await this.#context.exec.read({
      path: this.path,
      toolCallId: this.#context.callId,
      ...(from > 1 ? { offset: from } : {}),
    });
    const { result } = answer;
    if (result.case === 'fileNotFound') {
      return { missing: true, problem: `There is no shell ${this.#shellId}: ${this.path} was not found.` };
    }
    if (result.case !== 'success') return { missing: false, problem: readProblem(this.path, answer) };
    const pieces = (result.value.output.case === 'content' ? result.value.output.value : '').split('\n');
    const lines = result.value.rangeApplied || from === 1 ? pieces : pieces.slice(from - 1);
    const text = lines.join('\n');
    this.#take(text, lines);
    return { text, more: result.value.truncated && lines.length > 1 };
  }

  /** The last line is read again next time: it may be unfinished. */
  #take(text: string, lines: readonly string[]): void {
    const kept = this.#raw.slice(0, this.#raw.length - this.#unfinished);
    this.length += text.length - this.#unfinished;
    this.#raw = tailOf(kept + text, AWAIT_TAIL_CHARACTERS * 2);
    this.#unfinished = lines.at(-1)?.length ?? 0;
    this.#line += Math.max(0, lines.length - 1);
    const { body, footer } = readTerminal(this.#raw);
    this.tail = body;
    this.footer = footer;
  }
}
