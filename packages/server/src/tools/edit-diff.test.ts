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
    expect(diffTexts('a', undefined, rows('new', 900).slice(0, -1))).toMatchObject({ linesAdded: 900, linesRemoved: 0 });
  });

  it('leaves out a diff that would be very long, and still counts', () => {
    const long = `${'x'.repeat(DIFF_CHARACTERS)}\n`;
    expect(diffTexts('a', 'y\n', long)).toEqual({ linesAdded: 1, linesRemoved: 1 });
  });
});
