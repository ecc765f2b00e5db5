import type { ShellStream } from '@tandem/protocol/agent';
import { CARD_OUTPUT_CHARACTERS, RESULT_CHARACTERS } from './limits.ts';
import { OutputExcerpt } from './output-excerpt.ts';

/** Fields of ShellSuccess and ShellFailure that hold the output. */
export interface ShellOutputFields {
  stdout: string;
  stderr: string;
  /** Both streams in the order they came, as the model reads them; only when there are both. */
  interleavedOutput?: string;
  outputHead?: string;
  outputTail?: string;
  /** Characters of stdout that are in none of the fields. */
  elidedChars?: number;
}

/** What a command printed: each stream for the card, both in order for the model, in bounded memory (R34). */
export class ShellOutput {
  readonly #stdout = new OutputExcerpt(CARD_OUTPUT_CHARACTERS);
  readonly #stderr = new OutputExcerpt(CARD_OUTPUT_CHARACTERS);
  readonly #both = new OutputExcerpt(RESULT_CHARACTERS);

  /** Takes an event of the stream; all but output is ignored. */
  push(event: ShellStream['event']): void {
    if (event.case !== 'stdout' && event.case !== 'stderr') return;
    (event.case === 'stdout' ? this.#stdout : this.#stderr).push(event.value.data);
    this.#both.push(event.value.data);
  }

  /** The output as the model reads it; "(no output)" when there is none (R34). */
  text(): string {
    const text = this.#both.text();
    return text.trim() === '' ? '(no output)' : text.replace(/\n+$/, '');
  }

  fields(): ShellOutputFields {
    const { head, tail, elided } = this.#stdout.ends();
    const fields: ShellOutputFields = { stdout: this.#stdout.text(), stderr: this.#stderr.text() };
    if (this.#stdout.length > 0 && this.#stderr.length > 0) fields.interleavedOutput = this.#both.text();
    if (elided === 0) return fields;
    return { ...fields, outputHead: head, outputTail: tail, elidedChars: elided };
  }
}
