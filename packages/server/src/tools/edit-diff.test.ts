import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffTexts } from './edit-diff.ts';
import { DIFF_CHARACTERS } from './limits.ts';

const rows = (word: string, count: number) => Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('');

describe('diffTexts', () => {
  it('shows a new file as added', () => {
    expect(diffTexts('/ws/a', undefined, 'one\n')).toEqual({
      linesAdded: 1,
      linesRemoved: 0,
      diffString: '--- /dev/null\n+++ b/ws/a\n@@ -0,0 +1,1 @@\n+one\n',
    });
  });

  it('finds no difference between equal texts', () => {
    expect(diffTexts('a', 'x\n', 'x\n')).toEqual({ linesAdded: 0, linesRemoved: 0, diffString: '' });
  });

  it('shows one block when too much changed to search for the smallest difference', () => {
    const diff = diffTexts('a', `head\n${rows('old', 900)}tail\n`, `head\n${rows('new', 901)}tail\n`);
    expect(diff).toMatchObject({ linesAdded: 901, linesRemoved: 900 });
    expect(diff.diffString).toMatch(/^--- a\/a\n\+\+\+ b\/a\n@@ -2,900 \+2,901 @@\n-old 0\n/);
  });

  it('counts a large new file, with and without a last line end', () => {
    expect(diffTexts('a', undefined, rows('new', 900))).toMatchObject({ linesAdded: 900, linesRemoved: 0 });
    expect(diffTexts('a', undefined, rows('new', 900).slice(0, -1))).toMatchObject({
      linesAdded: 900,
      linesRemoved: 0,
    });
  });

  it('shows a small change in a large file with its line numbers and little around it', () => {
    const before = rows('row', 50_000);
    const { diffString, linesAdded, linesRemoved } = diffTexts(
      'a',
      before,
      before.replace('row 30000\n', 'changed\nand more\n'),
    );
    expect([linesAdded, linesRemoved]).toEqual([2, 1]);
    expect(diffString).toBe(
      '--- a/a\n+++ b/a\n@@ -29998,7 +29998,8 @@\n row 29997\n row 29998\n row 29999\n-row 30000\n+changed\n+and more\n row 30001\n row 30002\n row 30003\n',
    );
  });

  it('marks a last line without a line end', () => {
    expect(diffTexts('a', 'x', 'x\n').diffString).toBe(
      '--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n',
    );
    expect(diffTexts('a', 'x\n', '').diffString).toBe('--- a/a\n+++ b/a\n@@ -1,1 +0,0 @@\n-x\n');
  });

  it('applies to the old text and gives the new one, whatever the change', () => {
    const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', '+\n', '-\n');
    const text = fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('', 'end'))
      .map(([lines, end]) => lines.join('') + end);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { diffString } = diffTexts('a', before, after);
        expect(before === after ? after : applyPatch(before, diffString!)).toBe(after);
      }),
    );
  });

  it('leaves out a diff that would be very long, and still counts', () => {
    const long = `${'x'.repeat(DIFF_CHARACTERS)}\n`;
    expect(diffTexts('a', 'y\n', long)).toEqual({ linesAdded: 1, linesRemoved: 1 });
  });
});
