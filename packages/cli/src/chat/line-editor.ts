import { characterWidth } from '../render/text-width.ts';

/** A key as the terminal reports it. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** How the text under edit stands on the screen. */
export interface Layout {
  readonly rows: readonly string[];
  /** Where the cursor is: its row and its column, from 0. */
  readonly row: number;
  readonly column: number;
}

/** The text that is being typed: several lines, a cursor, and what was typed before. */
export interface LineEditor {
  readonly text: string;
  /** Takes a key; true when it was the one that submits. What is pasted only ever becomes text. */
  press(typed: string | undefined, key: Key): boolean;
  /** Replaces the text, the cursor at its end. */
  set(text: string): void;
  /** What Up brings back from now on. */
  remember(text: string): void;
  layout(label: string, columns: number): Layout;
}

/** More than this is no prompt that was typed; the rest is dropped. */
const TEXT_CHARACTERS = 1_000_000;
const HISTORY_LENGTH = 500;
/** What a pasted text may not bring into the editor. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** @param history what was typed before, the oldest first */
export function createLineEditor(history: readonly string[] = []): LineEditor {
  let before: string[] = [];
  let after: string[] = [];
  const past = [...history];
  /** Where in the past the text comes from; `past.length` is the text of its own. */
  let at = past.length;
  let own = '';
  let isPasting = false;

  const text = () => [...before, ...after].join('');
  const set = (next: string) => {
    before = Array.from(next);
    after = [];
  };
  const insert = (typed: string) => {
    const clean = Array.from(typed.replace(/\r\n?/g, '\n').replaceAll('\t', '    ').replace(CONTROLS, ''));
    before.push(...clean.slice(0, TEXT_CHARACTERS - before.length - after.length));
  };
  const toLineStart = () => {
    while (before.length > 0 && before.at(-1) !== '\n') after.unshift(before.pop() ?? '');
  };
  const toLineEnd = () => {
    while (after.length > 0 && after[0] !== '\n') before.push(after.shift() ?? '');
  };
  const recall = (step: number) => {
    const next = at + step;
    if (next < 0 || next > past.length) return;
    if (at === past.length) own = text();
    at = next;
    set(past[at] ?? own);
  };
  /** To the line above or below, in the same column; false when there is none. */
  const toLine = (step: -1 | 1): boolean => {
    const column = before.length - 1 - before.lastIndexOf('\n');
    if (step === -1) {
      if (!before.includes('\n')) return false;
      toLineStart();
      after.unshift(before.pop() ?? '');
      toLineStart();
    } else {
      if (!after.includes('\n')) return false;
      toLineEnd();
      before.push(after.shift() ?? '');
    }
    for (let left = column; left > 0 && after.length > 0 && after[0] !== '\n'; left--) before.push(after.shift() ?? '');
    return true;
  };
  const eraseWord = () => {
    while (before.length > 0 && /\s/.test(before.at(-1) ?? '')) before.pop();
    while (before.length > 0 && !/\s/.test(before.at(-1) ?? '')) before.pop();
  };

  const control: Readonly<Record<string, () => void>> = {
    a: toLineStart,
    e: toLineEnd,
    b: () => before.length > 0 && after.unshift(before.pop() ?? ''),
    f: () => after.length > 0 && before.push(after.shift() ?? ''),
    d: () => after.shift(),
    h: () => before.pop(),
    j: () => before.push('\n'),
    k() {
      while (after.length > 0 && after[0] !== '\n') after.shift();
    },
    u() {
      while (before.length > 0 && before.at(-1) !== '\n') before.pop();
    },
    w: eraseWord,
    p: () => recall(-1),
    n: () => recall(1),
  };
  const named: Readonly<Record<string, () => void>> = {
    backspace: () => before.pop(),
    delete: () => after.shift(),
    left: () => before.length > 0 && after.unshift(before.pop() ?? ''),
    right: () => after.length > 0 && before.push(after.shift() ?? ''),
    home: toLineStart,
    end: toLineEnd,
    up: () => toLine(-1) || recall(-1),
    down: () => toLine(1) || recall(1),
    enter: () => before.push('\n'), // Ctrl-J; the key that submits is called return
  };

  return {
    get text() {
      return text();
    },
    press(typed, key) {
      if (key.name === 'paste-start' || key.name === 'paste-end') {
        isPasting = key.name === 'paste-start';
        return false;
      }
      if (isPasting) {
        insert(key.name === 'return' || key.name === 'enter' ? '\n' : (typed ?? ''));
        return false;
      }
      if (key.name === 'return') {
        if (key.meta) before.push('\n');
        else if (before.at(-1) === '\\' && after.length === 0) before.splice(-1, 1, '\n');
        else return true;
        return false;
      }
      if (key.ctrl && key.name !== undefined) {
        control[key.name]?.();
        return false;
      }
      if (key.meta && key.name === 'backspace') eraseWord();
      else if (key.name !== undefined && named[key.name]) named[key.name]?.();
      else if (typed !== undefined && !key.meta) insert(typed);
      return false;
    },
    set,
    remember(line) {
      if (line !== '' && past.at(-1) !== line) past.push(line);
      if (past.length > HISTORY_LENGTH) past.shift();
      at = past.length;
      own = '';
    },
    layout(label, columns) {
      const width = Math.max(4, columns - 1);
      const rows = [''];
      let column = 0;
      let cursor = { row: 0, column: 0 };
      const put = (character: string) => {
        const wide = characterWidth(character);
        if (character === '\n' || column + wide > width) {
          rows.push('');
          column = 0;
        }
        if (character === '\n') return;
        rows[rows.length - 1] += character;
        column += wide;
      };
      for (const character of label) put(character);
      for (const character of before) put(character);
      cursor = { row: rows.length - 1, column };
      for (const character of after) put(character);
      return { rows, ...cursor };
    },
  };
}
