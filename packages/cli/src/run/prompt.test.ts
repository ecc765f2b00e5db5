import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeSurroundings } from '../../test/surroundings.ts';
import { readPrompt } from './prompt.ts';

const never = new AbortController().signal;
const folder = '/nowhere';

it('takes the argument as it is and does not touch stdin', async () => {
  const { stdin } = makeSurroundings({ stdin: 'other' });
  expect(await readPrompt(' do it ', { stdin, stop: never, folder })).toEqual({
    prompt: ' do it ',
    images: [],
    notices: [],
  });
  expect(stdin.readableLength).toBe(5);
});

it.each([undefined, '-'])('reads stdin for the argument %s, without the line end that echo adds', async argument => {
  const { stdin } = makeSurroundings({ stdin: 'first 漢\n\nlast\n' });
  expect(await readPrompt(argument, { stdin, stop: never, folder })).toEqual({
    prompt: 'first 漢\n\nlast',
    images: [],
    notices: [],
  });
});

it('says what to do when there is no prompt', async () => {
  const terminal = makeSurroundings({ isTerminal: true });
  expect(await readPrompt(undefined, { stdin: terminal.stdin, stop: never, folder })).toEqual({
    problem: expect.stringMatching(/^There is no prompt\. .*tandem run "/),
  });
  expect(await readPrompt(undefined, { stdin: makeSurroundings({ stdin: ' \n' }).stdin, stop: never, folder })).toEqual(
    {
      problem: expect.stringMatching(/stdin was empty/),
    },
  );
  expect(await readPrompt(' ', { stdin: terminal.stdin, stop: never, folder })).toEqual({
    problem: 'The prompt is empty.',
  });
});

it('gives up the wait for stdin when it is told to stop', async () => {
  const stop = new AbortController();
  const { stdin } = makeSurroundings({ isTerminal: true });
  const reading = readPrompt('-', { stdin, stop: stop.signal, folder });
  stop.abort();
  expect(await reading).toHaveProperty('problem');
});

it('attaches what the argument names by @, and nothing that stdin names', async () => {
  const surroundings = makeSurroundings({ stdin: 'see @a.txt' });
  const place = { stdin: surroundings.stdin, stop: never, folder: surroundings.cwd };
  writeFileSync(join(surroundings.cwd, 'a.txt'), 'secret');
  expect(await readPrompt('see @a.txt', place)).toMatchObject({ prompt: expect.stringContaining('secret') });
  expect(await readPrompt('-', place)).toEqual({ prompt: 'see @a.txt', images: [], notices: [] });
});
