import { createInterface } from 'node:readline';
import { approveQuery, refuseQuery } from '@tandem/client';
import type { AnswerQuery, Query } from '@tandem/client';
import type { Ask, PermissionQuestion } from '@tandem/client/node';
import { visibleText } from '../render/plain-text.ts';
import type { Input, Output } from '../surroundings.ts';

/** Asks the person at the terminal for leave, one question at a time. */
export interface TerminalQuestions {
  readonly ask: Ask;
  readonly answerQuery: AnswerQuery;
  close(): void;
}

interface Question {
  /** What is asked, whole lines; all that will be done is in it. */
  readonly text: string;
  /** What "always" would allow from now on; absent where that is not offered. */
  readonly always?: { readonly key: string; readonly words: string };
  readonly signal: AbortSignal;
}

/**
 * Questions on a terminal. Lines that were typed while nothing was asked are dropped: an answer is only what was typed below its question.
 * The terminal stays in its usual mode, so Ctrl-C still cancels.
 */
export function createTerminalQuestions({ stdin, stderr }: { stdin: Input; stderr: Output }): TerminalQuestions {
  const lines = createInterface({ input: stdin, terminal: false });
  const allowed = new Set<string>();
  let onLine: ((line: string | undefined) => void) | undefined;
  let isClosed = false;
  let turn: Promise<unknown> = Promise.resolve();
  lines.on('line', line => onLine?.(line));
  lines.on('close', () => {
    isClosed = true;
    onLine?.(undefined);
  });

  /** The next line; undefined when there is none any more or the question is withdrawn. */
  const nextLine = (signal: AbortSignal): Promise<string | undefined> =>
    new Promise(resolve => {
      const finish = (line: string | undefined) => {
        onLine = undefined;
        signal.removeEventListener('abort', withdraw);
        resolve(line);
      };
      const withdraw = () => {
        stderr.write('(not needed any more)\n');
        finish(undefined);
      };
      if (isClosed || signal.aborted) {
        resolve(undefined);
        return;
      }
      onLine = finish;
      signal.addEventListener('abort', withdraw, { once: true });
    });

  const put = async ({ text, always, signal }: Question): Promise<boolean> => {
    if (always && allowed.has(always.key)) return true;
    if (isClosed || signal.aborted) return false;
    stderr.write(`\n${text}\n`);
    for (;;) {
      stderr.write(always ? `Allow? y = yes, n = no, always = ${always.words}: ` : 'Allow? y = yes, n = no: ');
      const line = await nextLine(signal);
      if (line === undefined) return false;
      const word = line.trim().toLowerCase();
      if (word === 'y' || word === 'yes') return true;
      if (word === 'n' || word === 'no') return false;
      if (always && (word === 'a' || word === 'always')) {
        allowed.add(always.key);
        return true;
      }
    }
  };
  /** Questions of parallel calls wait for each other. */
  const inTurn = (question: Question): Promise<boolean> => {
    const answer = turn.then(() => put(question));
    turn = answer.catch(() => undefined); // whoever asked is told; the next one is asked all the same
    return answer;
  };

  return {
    ask: (question, signal) => inTurn({ ...wordsOf(question), signal }),
    async answerQuery(query, { signal }) {
      const approval = approveQuery(query);
      if (!approval) return undefined;
      if (await inTurn({ text: wordsOfQuery(query), signal })) return approval;
      const refusal = refuseQuery(query, 'the user said no');
      return refusal.case === undefined ? undefined : refusal;
    },
    close: () => lines.close(),
  };
}

/** The whole of what would be done. What is unusual about it, and so has a reason, is asked each time. */
function wordsOf(question: PermissionQuestion): Pick<Question, 'text' | 'always'> {
  const { kind, path = '', command = '', workingDirectory = '', reason } = question;
  const why = reason === undefined ? '' : `\n  (${visibleText(reason)})`;
  if (kind === 'shell') {
    const text = `Run in ${visibleText(workingDirectory)}:\n${indented(command)}${why}`;
    if (reason !== undefined) return { text };
    return {
      text,
      always: { key: JSON.stringify([kind, workingDirectory, command]), words: 'this command without asking' },
    };
  }
  const text = `${kind === 'write' ? 'Write' : 'Delete'}:\n${indented(path)}${why}`;
  if (reason !== undefined) return { text };
  return {
    text,
    always: { key: kind, words: `${kind === 'write' ? 'write' : 'delete'} in this folder without asking` },
  };
}

function wordsOfQuery(query: Query): string {
  switch (query.case) {
    case 'webSearchRequestQuery':
      return `Search the web for:\n${indented(query.value.args?.searchTerm ?? '')}`;
    case 'webFetchRequestQuery':
      return `Fetch:\n${indented(query.value.args?.url ?? '')}`;
    case 'switchModeRequestQuery':
      return `Switch the mode to:\n${indented(query.value.args?.targetModeId ?? '')}`;
    case 'generateImageRequestQuery':
      return `Make an image of:\n${indented(query.value.args?.description ?? '')}`;
    default:
      return `Allow ${query.case}`;
  }
}

function indented(text: string): string {
  return visibleText(text)
    .split('\n')
    .map(line => `    ${line}`)
    .join('\n');
}
