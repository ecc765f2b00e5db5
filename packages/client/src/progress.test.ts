import { expect, it } from 'vitest';
import { Progress } from './progress.ts';

it('keeps the text after the last tool call', () => {
  const progress = new Progress();
  progress.note({ type: 'text', text: 'before' });
  progress.note({ type: 'tool', id: 'a', name: 'read', status: 'running' });
  progress.note({ type: 'tool', id: 'a', name: 'read', status: 'completed' });
  progress.note({ type: 'text', text: 'af' });
  progress.note({ type: 'notice', text: 'not this' });
  progress.note({ type: 'text', text: 'ter' });
  expect(progress.text).toBe('after');
});

it('takes text back that the next attempt says again', () => {
  const progress = new Progress();
  progress.note({ type: 'text', text: 'one ' });
  progress.note({ type: 'checkpoint', turns: 1, pendingToolCalls: 0 });
  progress.note({ type: 'text', text: 'two' });
  progress.restart(true);
  expect(progress.text).toBe('one ');
  progress.restart(false);
  expect(progress.text).toBe('');
});

it('closes each call that was left open, once', () => {
  const progress = new Progress();
  progress.note({ type: 'tool', id: 'a', name: 'read', status: 'running' });
  progress.note({ type: 'tool', id: 'b', name: 'shell', status: 'partial' });
  progress.note({ type: 'tool', id: 'a', name: 'read', status: 'completed' });
  expect(progress.closeOpen()).toEqual([{ type: 'tool', id: 'b', name: 'shell', status: 'failed' }]);
  expect(progress.closeOpen()).toEqual([]);
});
