import { expect, it } from 'vitest';
import { makeSurroundings } from '../../test/surroundings.ts';
import { readPrompt } from './prompt.ts';

const never = new AbortController().signal;

it('takes the argument as it is and does not touch stdin', async () => {
  const { stdin } = makeSurroundings({ stdin: 'other' });
  expect(await readPrompt(' do it ', stdin, never)).toEqual({ prompt: ' do it ' });
  expect(stdin.readableLength).toBe(5);
});

it.each([undefined, '-'])('reads stdin for the argument %s, without the line end that echo adds', async argument => {
  const { stdin } = makeSurroundings({ stdin: 'first 漢\n\nlast\n' });
  expect(await readPrompt(argument, stdin, never)).toEqual({ prompt: 'first 漢\n\nlast' });
});

it('says what to do when there is no prompt', async () => {
  const terminal = makeSurroundings({ isTerminal: true });
  expect(await readPrompt(undefined, terminal.stdin, never)).toEqual({
    problem: expect.stringMatching(/^There is no prompt\. .*tandem run "/),
  });
  expect(await readPrompt(undefined, makeSurroundings({ stdin: ' \n' }).stdin, never)).toEqual({
    problem: expect.stringMatching(/stdin was empty/),
  });
  expect(await readPrompt(' ', terminal.stdin, never)).toEqual({ problem: 'The prompt is empty.' });
});

it('gives up the wait for stdin when it is told to stop', async () => {
  const stop = new AbortController();
  const { stdin } = makeSurroundings({ isTerminal: true });
  const reading = readPrompt('-', stdin, stop.signal);
  stop.abort();
  expect(await reading).toHaveProperty('problem');
});
