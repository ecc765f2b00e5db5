import { execAnswers } from '@tandem/protocol';
import { expect, it } from 'vitest';
import { makeMachine } from '../../test/machine.ts';
import { nodeExecutors } from './executors.ts';
import { stateFolder, terminalsFolder } from './state-folder.ts';

it('has one executor a kind, each of a kind that the protocol knows', () => {
  const kinds = nodeExecutors({ workspace: makeMachine().root, permission: 'auto' }).map(executor => executor.kind);
  expect(new Set(kinds).size).toBe(kinds.length);
  expect(kinds).toEqual(
    expect.arrayContaining([
      'requestContextArgs',
      'readArgs',
      'writeArgs',
      'deleteArgs',
      'grepArgs',
      'lsArgs',
      'shellStreamArgs',
    ]),
  );
  for (const kind of kinds) expect(execAnswers).toHaveProperty(kind);
});

it('refuses a workspace that does not exist', () => {
  expect(() => nodeExecutors({ workspace: `${makeMachine().root}/none`, permission: 'auto' })).toThrow(/ENOENT/);
});

it("keeps state where the user's system wants it", () => {
  const before = process.env['XDG_STATE_HOME'];
  process.env['XDG_STATE_HOME'] = '/state';
  try {
    expect(stateFolder()).toBe('/state/tandem');
    expect(terminalsFolder('/a/my project')).toMatch(/^\/state\/tandem\/terminals\/my-project-[0-9a-f]{12}$/);
    expect(terminalsFolder('/b/my project')).not.toBe(terminalsFolder('/a/my project'));
  } finally {
    if (before === undefined) delete process.env['XDG_STATE_HOME'];
    else process.env['XDG_STATE_HOME'] = before;
  }
});
