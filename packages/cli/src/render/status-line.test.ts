import { expect, it } from 'vitest';
import { Written } from '../../test/surroundings.ts';
import { createStatusLine } from './status-line.ts';

function makeLine(columns = 80) {
  const output = Object.assign(new Written(true), { columns });
  let time = 0;
  let act = () => {};
  let isStopped = false;
  const tick = (drawn: () => void) => {
    act = drawn;
    return () => void (isStopped = true);
  };
  const line = createStatusLine({ output, folder: '/w', now: () => time, faint: text => text, tick });
  return { output, line, pass: (ms: number) => ((time += ms), act()), stopped: () => isStopped };
}

it('[product-status-line] says what is waited for, how long, and the tokens', () => {
  const { output, line, pass } = makeLine();
  line.show();
  line.note({ type: 'tool', id: '1', name: 'read', status: 'running', args: { path: '/w/a.txt' } });
  line.note({ type: 'checkpoint', turns: 1, pendingToolCalls: 0, usedTokens: 1234, maxTokens: 8000 });
  line.note({ type: 'tokens', count: 50 });
  pass(3_000);
  expect(output.text).toBe('\r\x1b[K⠋ Working · 0 s\r\x1b[K⠙ Read a.txt · 3 s · 1,234 of 8,000 tokens · 50 out');
});

it('[product-narrow-terminal] fits a terminal of 20 columns', () => {
  const { output, line } = makeLine(20);
  line.note({ type: 'tool', id: '1', name: 'shell', status: 'running', args: { command: 'make everythig at once' } });
  line.show();
  expect(output.text).toBe('\r\x1b[K⠋ Run make everythi');
});

it('draws nothing while it is hidden, and takes itself away', () => {
  const { output, line, pass, stopped } = makeLine();
  pass(100);
  expect(output.text).toBe('');
  line.show();
  line.hide();
  pass(100);
  expect(output.text).toBe('\r\x1b[K⠋ Working · 0 s\r\x1b[K');
  line.close();
  expect(stopped()).toBe(true);
});

it('says what a child run is at, for as long as its call runs', () => {
  const { output, line, pass } = makeLine();
  line.note({ type: 'tool', id: '1', name: 'task', status: 'running', args: { description: 'look' } });
  line.note({
    type: 'child',
    id: '1',
    event: { type: 'tool', id: 'c', name: 'read', status: 'running', args: { path: '/w/a' } },
  });
  line.show();
  line.note({ type: 'tool', id: '1', name: 'task', status: 'completed' });
  pass(0);
  expect(output.text).toBe('\r\x1b[K⠋ Agent: Read a · 0 s\r\x1b[K⠙ Working · 0 s');
});
