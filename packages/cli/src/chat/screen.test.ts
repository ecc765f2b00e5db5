import { expect, it } from 'vitest';
import { makeSurroundings } from '../../test/surroundings.ts';
import { createScreen } from './screen.ts';

const never = new AbortController().signal;

function makeScreen(columns = 80) {
  const { stdin, stdout } = makeSurroundings({ isTerminal: true });
  const screen = createScreen({ stdin, stdout: Object.assign(stdout, { columns, rows: 24 }) }, []);
  /** What was written since the last look. */
  const shown = () => stdout.text.slice(from, (from = stdout.text.length));
  let from = 0;
  shown();
  return { stdin, screen, shown };
}

it('draws the strip below whole lines, and takes it away before the next ones', () => {
  const { screen, shown } = makeScreen();
  screen.write('one\n');
  expect(shown()).toBe('one\r\n› \r\x1b[2C');
  screen.write('two\n');
  expect(shown()).toBe('\r\x1b[Jtwo\r\n› \r\x1b[2C');
});

it('makes room below a line that is not over, and goes on at its end', () => {
  const { screen, shown } = makeScreen();
  screen.write('Hel');
  expect(shown()).toBe('Hel\x1bD\x1b[1A\x1b7\r\n› \r\x1b[2C');
  screen.write('lo');
  expect(shown()).toBe('\x1b8\x1b[1B\r\x1b[J\x1b8lo\x1bD\x1b[1A\x1b7\r\n› \r\x1b[2C');
});

it('draws no strip while the output stands at the very edge', () => {
  const { screen, shown } = makeScreen(4);
  screen.write('full');
  expect(shown()).toBe('full');
  screen.write('!');
  expect(shown()).toBe('!\x1bD\x1b[1A\x1b7\r\n› \r\x1b[2C');
});

it('shows the status above the line, and an open question in its place', async () => {
  const { stdin, screen, shown } = makeScreen();
  screen.status = columns => `at work (${columns})`;
  screen.refresh();
  expect(shown()).toBe('at work (79)\r\n› \r\x1b[2C');
  const answer = screen.readLine('Allow? ', never);
  expect(shown()).toBe('\x1b[1A\r\x1b[JAllow? \r\x1b[7C');
  stdin.write('y\r');
  expect(await answer).toBe('y');
});

it('keeps what was being typed while a question is answered', async () => {
  const { stdin, screen } = makeScreen();
  const lines: string[] = [];
  screen.onLine = line => void lines.push(line);
  stdin.write('half a');
  await new Promise(resolve => setImmediate(resolve));
  const answer = screen.readLine('Allow? ', never);
  stdin.write('n\r');
  expect(await answer).toBe('n');
  stdin.write(' line\r');
  await new Promise(resolve => setImmediate(resolve));
  expect(lines).toEqual(['half a line']);
});

it('gives no answer to a question that is withdrawn, and none once it is closed', async () => {
  const { screen, shown } = makeScreen();
  const withdrawal = new AbortController();
  const withdrawn = screen.readLine('Allow? ', withdrawal.signal);
  withdrawal.abort();
  expect(await withdrawn).toBeUndefined();
  const open = screen.readLine('Allow? ', never);
  screen.close();
  expect(await open).toBeUndefined();
  expect(shown()).toMatch(/\x1b\[\?2004l$/);
  expect(await screen.readLine('Allow? ', never)).toBeUndefined();
});
