import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore, stateFolder } from '@tandem/client/node';
import { describe, expect, it } from 'vitest';
import { startProvider } from '../../test/provider.ts';
import { makeFolder, makeSurroundings } from '../../test/surroundings.ts';
import { history } from './history.ts';
import { run } from './run.ts';
import { show } from './show.ts';

/** Two turns of one conversation, in one folder. */
async function makeConversation() {
  const { config } = await startProvider([
    { tool: 'Read', args: { path: 'a.txt' } },
    { text: 'It says\x1b[2J hello.' },
    { text: 'You are welcome.' },
  ]);
  const surroundings = makeSurroundings();
  writeFileSync(join(surroundings.cwd, 'a.txt'), 'hello\n');
  expect(await run('What is in a.txt?', { config, quiet: true }, surroundings)).toBe(0);
  expect(surroundings.stdout.text).toBe('It says hello.\n');
  expect(await run('Thanks', { config, quiet: true, continue: true }, surroundings)).toBe(0);
  surroundings.stdout.text = '';
  surroundings.stderr.text = '';
  return surroundings;
}

describe('what is kept', () => {
  it('[product-history] lists the conversations of the folder, by what was asked first', async () => {
    const surroundings = await makeConversation();
    expect(await history({}, surroundings)).toBe(0);
    expect(surroundings.stdout.text).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d {2}[0-9a-f-]{36} {2}2 turns {2}What is in a\.txt\?\n$/,
    );
    surroundings.stdout.text = '';
    expect(await history({ cwd: makeFolder(), json: true }, surroundings)).toBe(0);
    expect(surroundings.stdout.text).toBe('');
    expect(surroundings.stderr.text).toMatch(/There is no conversation in .* yet/);
    expect(await history({ cwd: makeFolder(), all: true, json: true }, surroundings)).toBe(0);
    expect(JSON.parse(surroundings.stdout.text)).toMatchObject({ turns: 2, cwd: surroundings.cwd });
  });

  it('[product-history, product-escapes] prints a conversation by the beginning of its id, with no control of a model in it', async () => {
    const surroundings = await makeConversation();
    await history({ json: true }, surroundings);
    const { id } = JSON.parse(surroundings.stdout.text) as { id: string };
    surroundings.stdout.text = '';
    expect(await show(id.slice(0, 8), {}, surroundings)).toBe(0);
    expect(surroundings.stdout.text).toBe(
      '› What is in a.txt?\n\n● Read a.txt\nIt says hello.\n\n› Thanks\n\nYou are welcome.\n\n',
    );
    surroundings.stdout.text = '';
    expect(await show(id, { json: true }, surroundings)).toBe(0);
    expect(surroundings.stdout.lines.map(line => (JSON.parse(line) as { prompt: string }).prompt)).toEqual([
      'What is in a.txt?',
      'Thanks',
    ]);
  });

  it('[product-store-collected] gives room back: the command looks at its end, and --prune says what it removed', async () => {
    const surroundings = await makeConversation();
    const store = openStore();
    await store.blobs.set(new Uint8Array(32), Buffer.from('orphan'));
    store.close();
    const file = join(stateFolder(), 'conversations.db');
    const edit = (sql: string) => {
      const database = new DatabaseSync(file);
      const rows = database.prepare(sql).all();
      database.close();
      return rows;
    };
    expect(edit('SELECT at FROM collections')).toHaveLength(1);
    expect(await history({ prune: true }, surroundings)).toBe(0);
    expect(surroundings.stderr.text).toBe('tandem: Removed 0 pieces of conversations that are gone, 0 bytes.\n');
    edit('UPDATE blobs SET stored_at = 0 WHERE id = zeroblob(32)');
    surroundings.stderr.text = '';
    expect(await history({ prune: true }, surroundings)).toBe(0);
    expect(surroundings.stderr.text).toBe('tandem: Removed 1 pieces of conversations that are gone, 6 bytes.\n');
    expect(surroundings.stdout.text).toBe('');
  });

  it('[product-store-collected] a run removes it too, once it is due, and the conversation goes on', async () => {
    const surroundings = await makeConversation();
    const store = openStore();
    await store.blobs.set(new Uint8Array(32), Buffer.from('orphan'));
    store.close();
    const database = new DatabaseSync(join(stateFolder(), 'conversations.db'));
    database.exec('UPDATE blobs SET stored_at = 0; UPDATE collections SET at = 0');
    const { config } = await startProvider([{ text: 'Still here.' }]);
    expect(await run('And now?', { config, quiet: true, continue: true }, surroundings)).toBe(0);
    expect(surroundings.stdout.text).toBe('Still here.\n');
    expect(database.prepare('SELECT 1 FROM blobs WHERE id = zeroblob(32)').all()).toEqual([]);
    database.close();
    await history({ json: true }, surroundings);
    expect(surroundings.stdout.text).toContain('"turns":3');
  });

  it('[product-history, product-continue] passes over a run of which nothing was kept', async () => {
    const surroundings = await makeConversation();
    expect(await run('Lost', { server: 'http://127.0.0.1:1', quiet: true }, surroundings)).toBe(1);
    expect(await history({ limit: 1 }, surroundings)).toBe(0);
    expect(surroundings.stdout.lines).toEqual([expect.stringMatching(/2 turns {2}What is in a\.txt\?$/)]);
    const { config, bodies } = await startProvider([{ text: 'Again.' }]);
    expect(await run('More', { config, quiet: true, continue: true }, surroundings)).toBe(0);
    expect(bodies[0]).toMatch(/What is in a\.txt\?[^]*More/);
  });

  it('[product-history] says so when there is no such conversation', async () => {
    const surroundings = makeSurroundings();
    expect(await show('nope', {}, surroundings)).toBe(2);
    expect(surroundings.stderr.text).toMatch(/no conversation "nope" on this machine; tandem history --all/);
  });

  it('says so when the conversations cannot be read', async () => {
    const surroundings = makeSurroundings();
    writeFileSync(surroundings.env['XDG_STATE_HOME']!, 'a file stands here');
    expect(await history({}, surroundings)).toBe(1);
    expect(surroundings.stderr.text).toMatch(/conversations in .* cannot be read/);
  });
});
