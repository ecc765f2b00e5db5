import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { completionScript } from './completion.ts';
import { makeProgram } from './program.ts';

const program = makeProgram(() => Promise.resolve());

/** What bash offers after these words. */
function completed(...words: string[]): string[] {
  const script = `${completionScript('bash', program)}
COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_tandem
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

it('[product-completion] completes commands, flags and the values of flags in bash', () => {
  expect(completed('tandem', 'do')).toEqual(['doctor']);
  expect(completed('tandem', 'run', '--perm')).toEqual(['--permission']);
  expect(completed('tandem', 'run', '--permission', 'r')).toEqual(['read-only']);
  expect(completed('tandem', 'run', '--output', '')).toEqual(['text', 'json', 'stream-json']);
  expect(completed('tandem', 'usage', '--output', '')).toEqual(['text', 'json']);
  expect(completed('tandem', 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(completed('tandem', 'help', 'd')).toEqual(['doctor']);
});

it.each(['zsh', 'fish'] as const)('[product-completion] names every command and flag for %s', shell => {
  const script = completionScript(shell, program);
  for (const command of program.commands) {
    expect(script).toContain(command.name());
    for (const { long } of command.options)
      expect(script).toContain(shell === 'zsh' ? `'${long}[` : `-l ${long?.slice(2)}`);
  }
});
