import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { PiLsExecResultSchema } from '@tandem/protocol/agent';
import type { PiLsExecArgs } from '@tandem/protocol/agent';
import { readdir } from 'node:fs/promises';
import type { ExecAnswer, Executor } from '../../executor.ts';
import { hiddenBelow } from '../hidden-files.ts';
import type { Machine } from '../machine.ts';
import { messageOf } from '../workspace.ts';
import { keepHead } from './truncation.ts';

type Result = NonNullable<MessageInitShape<typeof PiLsExecResultSchema>['result']>;

/** Entries given when the server names no limit. */
const LIMIT = 500;

/** Lists one folder, hidden entries too; folders end with a slash. */
export function piLsExecutor(machine: Machine): Executor<'piLsArgs'> {
  return {
    kind: 'piLsArgs',
    async run(args): Promise<ExecAnswer> {
      let result: Result;
      try {
        result = { case: 'success', value: await list(machine, args) };
      } catch (error) {
        result = { case: 'error', value: { error: messageOf(error) } };
      }
      return { case: 'piLsResult', value: create(PiLsExecResultSchema, { result }) };
    },
  };
}

async function list(machine: Machine, args: PiLsExecArgs) {
  const folder = machine.workspace.resolve(args.path ?? '');
  const isHidden = await hiddenBelow(machine, folder);
  const entries = (await readdir(folder, { withFileTypes: true })).filter(entry => isHidden?.(entry.name) !== true);
  const limit = args.limit !== undefined && args.limit > 0 ? args.limit : LIMIT;
  const names = entries.map(entry => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const { text, truncation } = keepHead(names.slice(0, limit).join('\n'));
  return {
    output: names.length === 0 ? '(empty folder)' : text,
    ...(names.length > limit ? { entryLimitReached: limit } : {}),
    ...(truncation === undefined ? {} : { truncation }),
  };
}
