import { emitKeypressEvents } from 'node:readline';
import type { QuestionPlace } from '../run/line-reader.ts';
import { stripColours, textWidth } from '../render/text-width.ts';
import type { Input, Output } from '../surroundings.ts';
import { createLineEditor } from './line-editor.ts';
import type { Key } from './line-editor.ts';

/** A terminal with output that scrolls and, below it, a strip with the line that is being typed. */
export interface Screen extends QuestionPlace {
  /** What a submitted line is for, when no question is open. */
  onLine: (line: string) => void;
  /** Ctrl-C; the text under edit has been dropped when there was any. */
  onInterrupt: (hadText: boolean) => void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  onEnd: () => void;
  /** The line above the one that is typed, made anew with each drawing; undefined has none. */
  status: ((columns: number) => string) | undefined;
  /** What stands before the text under edit. */
  label: string;
  /** Draws the strip as it is now. */
  refresh(): void;
  remember(line: string): void;
  close(): void;
}

type Terminal = Input & { setRawMode?: (isRaw: boolean) => unknown };

/** How wide and high a terminal is that does not say. */
const COLUMNS = 80;
const ROWS = 24;

/**
 * Takes the terminal over until it is closed. The strip is taken away before output is written and drawn again below it; when the line of
 * the output is not over yet, the terminal itself remembers where to go on.
 */
export function createScreen(
  { stdin, stdout }: { stdin: Input; stdout: Output & { readonly rows?: number } },
  history: readonly string[],
): Screen {
  const editor = createLineEditor(history);
  let drawn: { isBelowOpenLine: boolean; row: number } | undefined;
  /** Columns of the line of output that is not over. */
  let openColumns = 0;
  let question: { label: string; draft: string; finish: (line: string | undefined) => void } | undefined;
  let isClosed = false;

  const columns = () => stdout.columns || COLUMNS;
  const emit = (text: string) => {
    if (!stdout.destroyed) stdout.write(text);
  };
  const erased = (): string => {
    if (!drawn) return '';
    const { isBelowOpenLine, row } = drawn;
    drawn = undefined;
    if (isBelowOpenLine) return '\x1b8\x1b[1B\r\x1b[J\x1b8';
    return `${row > 0 ? `\x1b[${row}A` : ''}\r\x1b[J`;
  };
  const drawing = (): string => {
    const width = columns();
    // right at the edge a terminal does not tell whether the next line has begun: the next piece of output will
    if (isClosed || (openColumns > 0 && openColumns % width === 0)) return '';
    const { rows, row, column } = editor.layout(question?.label ?? screen.label, width);
    const status = question ? undefined : screen.status?.(width - 1);
    const all = status === undefined ? [...rows] : [status, ...rows];
    let cursor = row + all.length - rows.length;
    // a text that is higher than the terminal is shown around its cursor
    const most = Math.max(2, (stdout.rows || ROWS) - 2);
    const from = Math.max(0, Math.min(cursor - most + 1, all.length - most));
    const shown = all.slice(from, from + most);
    cursor -= from;
    const isBelowOpenLine = openColumns > 0;
    const up = shown.length - 1 - cursor;
    drawn = { isBelowOpenLine, row: cursor };
    return (
      (isBelowOpenLine ? `${'\x1bD'.repeat(shown.length)}\x1b[${shown.length}A\x1b7\r\n` : '') +
      shown.join('\r\n') +
      `${up > 0 ? `\x1b[${up}A` : ''}\r${column > 0 ? `\x1b[${column}C` : ''}`
    );
  };
  const write = (text: string) => {
    if (text === '') return;
    const tail = text.slice(text.lastIndexOf('\n') + 1);
    const added = textWidth(stripColours(tail));
    openColumns = text.includes('\n') ? added : openColumns + added;
    emit(erased() + text.replaceAll('\n', '\r\n') + drawing());
  };
  const submit = () => {
    const line = editor.text;
    editor.set('');
    if (question) {
      write(`${openColumns > 0 ? '\n' : ''}${question.label}${line}\n`);
      question.finish(line);
      return;
    }
    if (line.trim() !== '') write(`${openColumns > 0 ? '\n' : ''}${screen.label}${line}\n`);
    screen.onLine(line);
  };
  const onKey = (typed: string | undefined, key: Key) => {
    if (key.ctrl && key.name === 'c') {
      const hadText = editor.text !== '' && !question;
      editor.set('');
      screen.refresh();
      screen.onInterrupt(hadText);
    } else if (key.ctrl && key.name === 'd' && editor.text === '') {
      if (question) question.finish(undefined);
      else screen.onEnd();
    } else if (key.ctrl && key.name === 'l') emit('\x1b[2J\x1b[H');
    else if (editor.press(typed, key)) submit();
    screen.refresh();
  };
  const onGone = () => screen.onEnd();

  const screen: Screen = {
    onLine: () => {},
    onInterrupt: () => {},
    onEnd: () => {},
    status: undefined,
    label: '› ',
    write,
    refresh: () => emit(erased() + drawing()),
    remember: line => editor.remember(line),
    readLine: (label, signal) =>
      new Promise(resolve => {
        if (isClosed || signal.aborted) {
          resolve(undefined);
          return;
        }
        const withdraw = () => {
          write('(not needed any more)\n');
          question?.finish(undefined);
        };
        const finish = (line: string | undefined) => {
          signal.removeEventListener('abort', withdraw);
          editor.set(question?.draft ?? '');
          question = undefined;
          screen.refresh();
          resolve(line);
        };
        question = { label, draft: editor.text, finish };
        editor.set('');
        signal.addEventListener('abort', withdraw, { once: true });
        screen.refresh();
      }),
    close() {
      if (isClosed) return;
      emit(erased());
      isClosed = true;
      question?.finish(undefined);
      emit('\x1b[?2004l');
      stdin.off('keypress', onKey);
      stdin.off('end', onGone);
      stdout.off('resize', screen.refresh);
      (stdin as Terminal).setRawMode?.(false);
      stdin.pause();
    },
  };
  emitKeypressEvents(stdin);
  (stdin as Terminal).setRawMode?.(true);
  stdin.on('keypress', onKey);
  stdin.on('end', onGone);
  stdout.on('resize', screen.refresh);
  stdin.resume();
  emit('\x1b[?2004h'); // pasted text comes between marks, so a line end in it submits nothing
  return screen;
}
