import { WriteArgsSchema } from '@tandem/protocol/agent';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { loadRules, saveRule, trustProjectRules } from '../../src/node/permission-file.ts';
import { readExecutor } from '../../src/node/read.ts';
import { parseHead, splitHead } from '../../src/node/rules.ts';
import { writeExecutor } from '../../src/node/write.ts';
import type { FakeStream } from '../fake-server.ts';
import { makeMachine, runExecutor } from '../machine.ts';
import { startHouse } from '../run-house.ts';

/** What was done to the disk, in its order: the call and the end of the path. */
const done: string[] = [];
let failing: string | undefined;
vi.mock('node:fs', async original => {
  const real = await original<typeof import('node:fs')>();
  const names = new Map<number, string>();
  const note = (call: string, path: unknown) => {
    done.push(`${call} ${typeof path === 'number' ? names.get(path) : String(path)}`);
    if (failing === call) throw Object.assign(new Error(`ENOSPC: no space left, ${call}`), { code: 'ENOSPC' });
  };
  return {
    ...real,
    openSync: (path: string, ...rest: [never]) => {
      const descriptor = real.openSync(path, ...rest);
      names.set(descriptor, path);
      return descriptor;
    },
    writeFileSync: (path: string, ...rest: [never]) => (note('write', path), real.writeFileSync(path, ...rest)),
    fsyncSync: (descriptor: number) => (note('sync', descriptor), real.fsyncSync(descriptor)),
    renameSync: (from: string, to: string) => (note('rename', to), real.renameSync(from, to)),
  };
});
const folders: string[] = [];
afterEach(() => {
  failing = undefined;
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});
function permissionsFile(content: object): string {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'tandem-')));
  folders.push(folder);
  const path = join(folder, 'permissions.json');
  fs.writeFileSync(path, JSON.stringify(content));
  done.length = 0;
  return path;
}

it('F49: a CRLF file with a byte order mark is LF on the wire, and the write of the server restores both', async () => {
  const { machine, file } = makeMachine({ 'dos.txt': '\ufeffone\r\ntwo\r\n' });
  const result = async (stream: FakeStream, id: number) => {
    const { answers } = await stream.settled(id);
    return (answers[0]!.value as unknown as { result: { case: string; value: { output: { value: string } } } }).result;
  };
  const { client } = await startHouse(
    async stream => {
      await stream.runRequest();
      const read = await result(stream, stream.ask({ case: 'readArgs', value: { path: 'dos.txt' } }));
      expect(read.value.output.value).toBe('one\ntwo\n');
      for (let turn = 0; turn < 2; turn++) {
        const value = { path: 'dos.txt', fileText: `${read.value.output.value}three\n`, toolCallId: `call-${turn}` };
        expect((await result(stream, stream.ask({ case: 'writeArgs', value }))).case).toBe('success');
      }
      stream.finish();
    },
    { executors: [readExecutor(machine), writeExecutor(machine)] },
  );
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
  expect(fs.readFileSync(file('dos.txt'), 'latin1')).toBe('\xef\xbb\xbfone\r\ntwo\r\nthree\r\n');
});

it.each([
  ['a head that never closes', (size: number) => `---\n${'key: value\n'.repeat(size / 11)}`],
  ['a head of one line', (size: number) => `---\n${'a: - '.repeat(size / 5)}`],
  ['almost ends', (size: number) => `---\n${'\n--\n'.repeat(size / 4)}`],
  ['a list without end', (size: number) => `---\nglobs:\n${'  - a\n'.repeat(size / 6)}---\n`],
  ['quotes and blanks', (size: number) => `---\na: ${`"' `.repeat(size / 3)}\n---\n`],
  ['blanks alone', (size: number) => `---\na:${' '.repeat(size)}b\n---\n`],
])('F53: front matter costs time in proportion to its length, also with %s', (_what, make) => {
  const parse = (text: string, times: number) => {
    const startedAt = performance.now();
    for (let time = 0; time < times; time++) {
      const { head, body } = splitHead(text);
      parseHead(head === '' ? body : head);
    }
    return performance.now() - startedAt;
  };
  const [small, large] = [make(20_000), make(400_000)];
  parse(large, 1);
  // Once the long one against twenty times the short one, in turn, so that a busy machine slows both: a quadratic parser needs twenty times as long.
  const rounds = Array.from({ length: 9 }, () => [parse(large, 1), parse(small, 20)] as const);
  const least = (index: 0 | 1) => Math.min(...rounds.map(round => round[index]));
  expect(least(0) / Math.max(least(1), 0.5)).toBeLessThan(8);
});

it('F77: a file of ours is on disk under another name before it takes the place of the old one', () => {
  const path = permissionsFile({ deny: ['shell: rm'], ui: { theme: 'dark' }, folders: { '/else': { future: [1] } } });
  saveRule('/work', path, 'allow', 'write: **');
  const [first, ...rest] = done.map(line => line.replace(/permissions\.json\.[\w-]+\.tmp/, 'NEW'));
  const folder = join(path, '..');
  expect([first, ...rest]).toEqual([`write ${folder}/NEW`, `sync ${folder}/NEW`, `rename ${path}`, `sync ${folder}`]);
  expect(JSON.parse(fs.readFileSync(path, 'utf8'))).toEqual({
    deny: ['shell: rm'],
    ui: { theme: 'dark' },
    folders: { '/else': { future: [1] }, '/work': { allow: ['write: **'] } },
  });
});

it.each(['write', 'sync', 'rename'])(
  'F77: when the disk fails at the %s, the old file stands whole and nothing lies beside it',
  call => {
    const path = permissionsFile({ deny: ['shell: rm'] });
    failing = call;
    expect(() => saveRule('/work', path, 'allow', 'write: **')).toThrow(/ENOSPC/);
    failing = undefined;
    expect(fs.readdirSync(join(path, '..'))).toEqual(['permissions.json']);
    expect(loadRules('/work', path).user.map(rule => rule.text)).toEqual(['shell: rm']);
  },
);

it('F77: trust in a workspace is kept beside what is in the file', () => {
  const path = permissionsFile({ later: true });
  const { root } = makeMachine({ '.tandem/permissions.json': '{"allow":["shell: npm test"]}' });
  trustProjectRules(root, path);
  const kept = JSON.parse(fs.readFileSync(path, 'utf8')) as Record<string, unknown>;
  expect([kept['later'], Object.keys(kept['trusted'] as object)]).toEqual([true, [root]]);
});

it('F77: a file of the workspace is written beside and put in place too, so no reader ever sees half of it', async () => {
  const { machine, file, root } = makeMachine({ 'a.txt': 'old' });
  const seen = new Set<number>();
  const text = 'x'.repeat(4_000_000);
  let over = false;
  const watching = (async () => {
    while (!over) {
      seen.add(fs.readFileSync(file('a.txt')).length);
      await new Promise(resolve => setImmediate(resolve));
    }
  })();
  for (let count = 0; count < 3; count++)
    await runExecutor(writeExecutor(machine), WriteArgsSchema, { path: 'a.txt', fileText: text });
  over = true;
  await watching;
  expect([...seen].every(length => length === 3 || length === text.length)).toBe(true);
  expect(fs.readdirSync(root)).toEqual(['a.txt']);
});
