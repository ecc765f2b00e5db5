import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeMachine } from '../../test/machine.ts';
import type { AnyExecutor } from '../executor.ts';
import { nodeExecutors } from './executors.ts';
import { lateExecutor } from './late-executor.ts';
import type { Machine } from './machine.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Every executor that a module of this folder or of `pi` makes. */
async function executorsOfModules(machine: Machine): Promise<AnyExecutor[]> {
  const files = ['.', 'pi'].flatMap(folder => readdirSync(`${here}${folder}`).map(name => `./${folder}/${name}`));
  const sources = files.filter(file => /(?<!\.test|late-executor|pdf-worker)\.ts$/.test(file));
  const modules = await Promise.all(sources.map(file => import(file) as Promise<Record<string, unknown>>));
  return modules
    .flatMap(Object.entries)
    .filter(([name]) => name.endsWith('Executor'))
    .map(([, make]) => (make as (machine: Machine) => AnyExecutor)(machine));
}

it.each([
  ['a human who may be asked', () => Promise.resolve('once' as const)],
  ['nobody to ask', undefined],
])('says the same of its deadline as the executor that it loads, with %s', async (_, ask) => {
  const options = { mode: 'ask' as const, ...(ask && { ask }) };
  const { machine, root } = makeMachine({}, options);
  const late = nodeExecutors({ workspace: root, permission: 'ask', ...(ask && { ask }) });
  const deadlines = (list: readonly AnyExecutor[]) => Object.fromEntries(list.map(one => [one.kind, one.deadlineMs]));
  expect(deadlines(late)).toEqual(deadlines(await executorsOfModules(machine)));
  const kindsThatClose = (list: readonly AnyExecutor[]) => list.filter(one => one.close).map(one => one.kind);
  expect(kindsThatClose(late)).toEqual(kindsThatClose(await executorsOfModules(machine)));
});

it('loads with the first exec, and once', async () => {
  const { machine } = makeMachine();
  let loads = 0;
  const executor = lateExecutor(machine, 'lsArgs', async () => {
    loads++;
    return (await import('./ls.ts')).lsExecutor;
  });
  expect(loads).toBe(0);
  const ask = () =>
    (executor as unknown as { run(args: unknown, context: unknown): Promise<{ case: string }> }).run(
      { path: machine.workspace.root, ignore: [] },
      { signal: new AbortController().signal },
    );
  expect((await Promise.all([ask(), ask()])).map(answer => answer.case)).toEqual(['lsResult', 'lsResult']);
  expect(loads).toBe(1);
});
