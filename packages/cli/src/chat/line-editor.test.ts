import { describe, expect, it } from 'vitest';
import { createLineEditor } from './line-editor.ts';
import type { LineEditor } from './line-editor.ts';

const typed = (editor: LineEditor, text: string) => Array.from(text).forEach(one => editor.press(one, {}));
const key = (editor: LineEditor, name: string, more: object = {}) => editor.press(undefined, { name, ...more });

describe('the line editor', () => {
  it('inserts, moves and erases by character, word and line', () => {
    const editor = createLineEditor();
    typed(editor, 'one two three');
    key(editor, 'w', { ctrl: true });
    key(editor, 'left');
    key(editor, 'backspace');
    typed(editor, 'O');
    key(editor, 'a', { ctrl: true });
    typed(editor, '>');
    key(editor, 'delete');
    expect(editor.text).toBe('>ne twO ');
    key(editor, 'end');
    key(editor, 'u', { ctrl: true });
    expect(editor.text).toBe('');
  });

  it('[product-chat-editor] submits at return, and begins a new line at Alt-Enter, Ctrl-J and a backslash', () => {
    const editor = createLineEditor();
    typed(editor, 'a');
    expect(key(editor, 'return', { meta: true })).toBe(false);
    typed(editor, 'b');
    key(editor, 'enter');
    typed(editor, 'c\\');
    expect(key(editor, 'return')).toBe(false);
    typed(editor, 'd');
    expect(key(editor, 'return')).toBe(true);
    expect(editor.text).toBe('a\nb\nc\nd');
  });

  it('takes a paste as text alone: no line end in it submits, no control gets in', () => {
    const editor = createLineEditor();
    key(editor, 'paste-start');
    typed(editor, 'a\x1b\x07');
    expect(editor.press('\r', { name: 'return' })).toBe(false);
    expect(editor.press('\x03', { name: 'c', ctrl: true })).toBe(false);
    typed(editor, 'b\tc');
    key(editor, 'paste-end');
    expect(editor.text).toBe('a\nb    c');
    expect(key(editor, 'return')).toBe(true);
  });

  it('[product-chat-editor] brings back what was typed, and the text of its own after it', () => {
    const editor = createLineEditor(['first']);
    editor.remember('second');
    typed(editor, 'own');
    key(editor, 'up');
    expect(editor.text).toBe('second');
    key(editor, 'up');
    key(editor, 'up');
    expect(editor.text).toBe('first');
    key(editor, 'down');
    key(editor, 'down');
    expect(editor.text).toBe('own');
  });

  it('moves between the lines of a text before it looks into the past', () => {
    const editor = createLineEditor(['past']);
    editor.set('abc\nd');
    key(editor, 'up');
    typed(editor, '|');
    expect(editor.text).toBe('a|bc\nd');
    key(editor, 'up');
    expect(editor.text).toBe('past');
  });

  it('lays the text out in rows, wide characters whole, with the cursor where the next one goes', () => {
    const editor = createLineEditor();
    typed(editor, 'ab漢字');
    expect(editor.layout('› ', 7)).toEqual({ rows: ['› ab漢', '字'], row: 1, column: 2 });
    editor.set('x\ny');
    expect(editor.layout('› ', 80)).toEqual({ rows: ['› x', 'y'], row: 1, column: 1 });
  });
});
