import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProvider } from './provider.ts';
import type { ModelAnswer } from './provider.ts';
import { startPty } from './pty.ts';
import { makeFolder } from './surroundings.ts';

/** A chat on a terminal with a model that gives these answers. */
async function startChat(answers: ModelAnswer[], options: { argv?: string[]; columns?: number } = {}) {
  const { config, bodies } = await startProvider(answers);
  const cwd = makeFolder();
  const home = makeFolder();
  const start = (argv: string[] = []) =>
    startPty(['chat', '--config', config, ...argv], {
      cwd,
      home,
      ...(options.columns && { columns: options.columns }),
    });
  const chat = start(options.argv);
  await chat.until(/\/exit leaves\./);
  return { chat, bodies, cwd, start };
}

const write = (path: string): ModelAnswer => ({ tool: 'Write', args: { path, contents: 'made\n' } });

describe('chat on a terminal', () => {
  it('[product-chat-questions, product-chat-commands] asks for leave in place: given once, denied once; and the edit can be shown and undone', async () => {
    const { chat, cwd, bodies } = await startChat([
      write('yes.txt'),
      write('no.txt'),
      { text: 'One is **there**, one is not.' },
    ]);
    chat.type('Make two files\r');
    await chat.until(/Write:\n +\S*yes\.txt\n[^]*Allow\?/);
    expect(existsSync(join(cwd, 'yes.txt'))).toBe(false);
    chat.type('y\r');
    await chat.until(/Write:\n +\S*no\.txt\n[^]*Allow\?/);
    chat.type('n\r');
    await chat.until(/One is there, one is not\.[^]*Done in/);
    expect(readFileSync(join(cwd, 'yes.txt'), 'utf8')).toBe('made\n');
    expect(existsSync(join(cwd, 'no.txt'))).toBe(false);
    expect(bodies[2]).toMatch(/reject|denied|refused|not allowed|said no/i);
    chat.type('/diff\r');
    await chat.until(/yes\.txt\n@@[^\n]*\n\+made\n/);
    chat.type('/undo\r');
    await chat.until(/Brought back \S*yes\.txt/);
    expect(existsSync(join(cwd, 'yes.txt'))).toBe(false);
    chat.type('/exit\r');
    expect(await chat.exited).toBe(0);
  });

  it('[product-chat-cancel] cancels the turn at Ctrl-C, stays, and leaves at the second one of a turn', async () => {
    const { chat } = await startChat([
      { text: 'Thinking about it', hangs: true },
      { text: 'Again', hangs: true },
    ]);
    chat.type('Hello\r');
    await chat.until(/Thinking about it/);
    chat.type('\x03');
    await chat.until(/Cancelled after/);
    chat.type('And now?\r');
    await chat.until(/Again/);
    chat.type('\x03\x03');
    expect(await chat.exited).toBe(130);
    expect(chat.raw).toContain('\x1b[?2004l');
  });

  it('[product-chat-follow-ups] sends what was typed while it works as the next turn, or tells it to this one', async () => {
    const { chat, bodies } = await startChat(
      [{ tool: 'Shell', args: { command: 'sleep 1 # slow' } }, { text: 'First.' }, { text: 'Second.' }],
      { argv: ['--permission', 'auto'] },
    );
    chat.type('Begin\r');
    await chat.until(/● Run sleep 1/);
    chat.type('also the tests\r');
    await chat.until(/First\./);
    await chat.until(/Done in/);
    chat.type('/exit\r');
    await chat.exited;
    expect(bodies.slice(1).join('\n')).toContain('also the tests');
  });

  it('[product-chat-resume, product-chat-editor] goes on with the conversation in a new process', async () => {
    const { chat, start, bodies } = await startChat([{ text: 'Hello Ada.' }, { text: 'You are Ada.' }]);
    chat.type('I am Ada\r');
    await chat.until(/Hello Ada\.[^]*Done in/);
    chat.type('\x04');
    const [, id = ''] = await chat.until(/Go on with: tandem chat --resume ([0-9a-f]{8})/);
    expect(await chat.exited).toBe(0);
    const again = start(['--resume', id]);
    await again.until(/Going on after:\n› I am Ada\nHello Ada\.[^]*\/exit leaves/);
    again.type('\x1b[A'); // Up brings back what was typed in the first process
    await again.until(/› I am Ada/);
    again.type('\x15Who am I?\r');
    await again.until(/You are Ada\.[^]*Done in/);
    again.type('/exit\r');
    expect(await again.exited).toBe(0);
    expect(bodies[1]).toMatch(/I am Ada[^]*Hello Ada\.[^]*Who am I\?/);
  });

  it('[product-chat-commands] says what can be typed, begins another conversation, and comes back to the first', async () => {
    const { chat, bodies } = await startChat([{ text: 'Hello Ada.' }, { text: 'Who?' }, { text: 'Ada.' }]);
    chat.type('/help\r');
    for (const name of ['model', 'mode', 'resume', 'new', 'diff', 'undo', 'cost', 'help', 'exit'])
      await chat.until(new RegExp(`/${name} `));
    chat.type('I am Ada\r');
    await chat.until(/Hello Ada\.[^]*Done in/);
    chat.type('/new\r');
    await chat.until(/A new conversation\./);
    chat.type('Who am I?\r');
    await chat.until(/Who\?[^]*Done in/);
    expect(bodies[1]).not.toContain('I am Ada');
    chat.type('/resume\r');
    const [, id = ''] = await chat.until(/([0-9a-f]{8}) {2}I am Ada/);
    chat.type(`/resume ${id}\r`);
    await chat.until(/Going on with/);
    chat.type('And now?\r');
    await chat.until(/Ada\.[^]*Done in/);
    expect(bodies[2]).toMatch(/I am Ada[^]*And now\?/);
    chat.type('/cost\r');
    await chat.until(/3 turns, .*\n?.*Cost: unknown/);
    chat.type('/exit\r');
    expect(await chat.exited).toBe(0);
  });

  it('[product-chat-editor] takes a paste of several lines as one prompt', async () => {
    const { chat, bodies } = await startChat([{ text: 'Read.' }]);
    chat.type('\x1b[200~first\rsecond\x1b[201~');
    chat.type('\r');
    await chat.until(/Read\.[^]*Done in/);
    expect(bodies[0]).toContain('first\\nsecond');
    chat.type('/exit\r');
    expect(await chat.exited).toBe(0);
  });

  it('[product-narrow-terminal] works on a terminal of 20 columns', async () => {
    const { chat } = await startChat([{ text: 'A line that is longer than the terminal is wide.\n\nAnd more.' }], {
      columns: 20,
    });
    chat.type('Say something that is longer than the terminal\r');
    await chat.until(/A line that is longer than the terminal is wide\.\n\nAnd more\.[^]*Done in/);
    chat.type('/cost\r');
    await chat.until(/1 turn/);
    chat.type('\x04');
    expect(await chat.exited).toBe(0);
  });

  it('[product-chat-commands] chooses model and mode, and says what it does not know', async () => {
    const { chat } = await startChat([]);
    chat.type('/model\r');
    await chat.until(/Model: test-model \(the default\)/);
    chat.type('/model nope\r');
    await chat.until(/lists no model nope/);
    chat.type('/mode plan\r');
    await chat.until(/works in agent mode alone[^]*Mode: agent/);
    chat.type('/nope\r');
    await chat.until(/There is no \/nope/);
    chat.type('/undo\r');
    await chat.until(/nothing to undo/);
    chat.type('\x03');
    await chat.until(/Ctrl-C again or \/exit leaves/);
    chat.type('\x03');
    expect(await chat.exited).toBe(0);
  });
});

describe('run on a terminal', () => {
  it('[product-narrow-terminal, product-status-line] works in 20 columns, and its status takes one row', async () => {
    const { config } = await startProvider([
      { tool: 'Shell', args: { command: 'echo a line that is longer than the terminal is wide' } },
      { text: 'An answer that is longer than that, too.' },
    ]);
    const argv = ['run', 'Go', '--permission', 'auto', '--config', config];
    const command = startPty(argv, { cwd: makeFolder(), columns: 20, env: { NO_COLOR: '1' } });
    expect(await command.exited).toBe(0);
    expect(command.text).toMatch(/ {4}a line that is longer than the terminal is wide\n/);
    expect(command.text).toMatch(/An answer that is longer than that, too\.\nDone in/);
    const drawn = command.raw.split('\r\x1b[K').flatMap(piece => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏][^\r\n]*/.exec(piece)?.[0] ?? []);
    expect(drawn.length).toBeGreaterThan(0);
    expect(drawn.filter(line => line.length > 19)).toEqual([]);
  });

  it('[product-markdown, product-escapes, product-colour] streams Markdown, shows a change in colour, and asks', async () => {
    const { config } = await startProvider([write('a.txt'), { text: '# Done\nIt is **there**: \x1b[2J`a.txt`.' }]);
    const cwd = makeFolder();
    const command = startPty(['run', 'Make it', '--config', config], { cwd });
    await command.until(/Write:\n +\S*a\.txt\n[^]*Allow\?/);
    command.type('y\r');
    expect(await command.exited).toBe(0);
    expect(command.text).toMatch(
      /● Edit a\.txt\n[^]* {2}\+1 −0\n {4}@@ -0,0 \+1,1 @@\n {4}\+made\n[^]*Done\nIt is there: a\.txt\.\nDone in \d/,
    );
    expect(command.raw).toContain('\x1b[32m+made\x1b[39m');
    expect(command.raw).toContain('\x1b[1mthere\x1b[22m');
    expect(command.raw).not.toContain('\x1b[2J');
  });

  it('[product-live-output] shows what a command puts out while it runs', async () => {
    const command = 'echo first; while [ ! -e go ]; do sleep 0.05; done; echo second';
    const { config } = await startProvider([{ tool: 'Shell', args: { command } }, { text: 'Over.' }]);
    const cwd = makeFolder();
    const run = startPty(['run', 'Go', '--permission', 'auto', '--config', config], { cwd });
    await run.until(/ {4}first\n/); // the command ends only once this was seen
    writeFileSync(join(cwd, 'go'), '');
    await run.until(/ {4}second\n[^]*Over\./);
    expect(await run.exited).toBe(0);
    expect(run.text.match(/ {4}(?:first|second)\n/g)).toHaveLength(2);
  });

  it('[product-run-exit-codes] is cancelled by Ctrl-C and exits 130', async () => {
    const { config } = await startProvider([{ text: 'So far', hangs: true }]);
    const command = startPty(['run', 'Look', '--config', config], { cwd: makeFolder(), env: { NO_COLOR: '1' } });
    await command.until(/So far/);
    command.type('\x03');
    expect(await command.exited).toBe(130);
    expect(command.text).toMatch(/Cancelled after/);
  });

  it('[product-attachments] attaches a file that is named by @', async () => {
    const { config, bodies } = await startProvider([{ text: 'Seen.' }]);
    const cwd = makeFolder();
    writeFileSync(join(cwd, 'note.txt'), 'the secret word is plum\n');
    const command = startPty(['run', 'What does @note.txt say?', '--config', config], { cwd });
    expect(await command.exited).toBe(0);
    expect(bodies[0]).toContain('the secret word is plum');
  });
});
