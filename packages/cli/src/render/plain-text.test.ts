import { describe, expect, it } from 'vitest';
import { plainJson, plainLine, plainText, visibleText } from './plain-text.ts';

describe('plain text for a terminal', () => {
  it('keeps letters of all scripts, tabs and line feeds', () => {
    expect(plainText('a\tb\n漢🙂é')).toBe('a\tb\n漢🙂é');
  });

  it.each([
    ['colours', '\x1b[31mred\x1b[0m', 'red'],
    ['a cursor that moves up and clears', 'a\x1b[1A\x1b[2Kb', 'ab'],
    ['a window title', '\x1b]0;title\x07text', 'text'],
    ['a link', '\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\', 'text'],
    ['a write to the clipboard', '\x1b]52;c;aGk=\x07x', 'x'],
    ['a device string', '\x1bP1$r0m\x1b\\x', 'x'],
    ['a reset', '\x1bcx', 'x'],
    ['C1 forms of the same', '\x9b31mred\x9d0;t\x9cx', 'redx'],
    ['backspace, bell, DEL and NUL', 'a\x08\x07\x7f\0b', 'ab'],
    ['marks that turn the direction', 'a\u202eb\u2066c\u200f', 'abc'],
  ])('takes away %s', (_, raw, plain) => {
    expect(plainText(raw)).toBe(plain);
  });

  it('[product-escapes] leaves no escape behind when a sequence is cut between two pieces', () => {
    expect(plainText('a\x1b') + plainText('[31mb')).toBe('a[31mb');
  });

  it('begins a new line at a lone carriage return, so that nothing is overwritten', () => {
    expect(plainText('rm -rf x\rls\r\nend')).toBe('rm -rf x\nls\nend');
  });
});

describe('text that is asked about', () => {
  it('shows controls instead of taking them away', () => {
    expect(visibleText('ls\x1b[2K\rrm\u202ex\n')).toBe('ls\\x1b[2K\\x0drm\\u202ex\n');
  });
});

describe('one line', () => {
  it('joins lines and cuts at whole characters', () => {
    expect(plainLine('a\n  b\tc', 10)).toBe('a b c');
    expect(plainLine('🙂🙂🙂🙂', 3)).toBe('🙂🙂…');
  });
});

describe('JSON for a terminal', () => {
  it('escapes what JSON may hold raw, and reads back the same', () => {
    const value = { text: 'a\x1b[31m\x9b\u2028\u202e漢' };
    expect(plainJson(value)).toBe('{"text":"a\\u001b[31m\\u009b\\u2028\\u202e漢"}');
    expect(JSON.parse(plainJson(value))).toEqual(value);
  });
});
