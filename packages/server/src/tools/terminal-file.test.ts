import { describe, expect, it } from 'vitest';
import { readTerminal } from './terminal-file.ts';

describe('readTerminal', () => {
  it.each([
    [
      '---\npid: 1\ncommand: "x"\n---\none\ntwo\n\n---\nexit_code: 0\nelapsed_ms: 12\n---\n',
      'one\ntwo\n',
      { exitCode: 0, elapsedMs: 12 },
    ],
    ['---\npid: 1\n---\n\n---\nexit_code: 137\nelapsed_ms: 12\n---\n', '', { exitCode: 137, elapsedMs: 12 }],
    ['out\nelapsed_ms: 12\nexit_code: 3\n', 'out', { exitCode: 3, elapsedMs: 12 }],
    [
      'out\n\n---\nsignal: none\nexit_code: 4294967295\nelapsed_ms: -1\nended_at: now\n---',
      'out\n',
      { exitCode: -1, elapsedMs: 0 },
    ],
    [
      '---\npid: 1\n---\nkey: value\n\n---\nexit_code: 0\nelapsed_ms: 1\n---\n',
      'key: value\n',
      { exitCode: 0, elapsedMs: 1 },
    ],
  ])('takes the footer from %j', (text, body, footer) => {
    expect(readTerminal(text)).toEqual({ body, footer });
  });

  it.each([
    ['---\npid: 1\ncwd: /\n---\n', ''],
    ['---\npid: 1\n---\none: two\n', 'one: two\n'],
    ['exit_code: 1\n', 'exit_code: 1\n'],
    ['exit_code: 1\nelapsed_ms: 2\nand more output', 'exit_code: 1\nelapsed_ms: 2\nand more output'],
    ['exit_code: one\nelapsed_ms: 2\n', 'exit_code: one\nelapsed_ms: 2\n'],
    ['just text', 'just text'],
  ])('finds none in %j', (text, body) => {
    expect(readTerminal(text)).toEqual({ body, footer: undefined });
  });
});
