import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
// oxlint-disable-next-line no-restricted-imports -- support of tests, which no package exports
import { FakeServer } from '../../client/test/fake-server.ts';
// oxlint-disable-next-line no-restricted-imports -- as above
import type { FakeStream } from '../../client/test/fake-server.ts';
import { startPty } from './pty.ts';
import { makeFolder } from './surroundings.ts';

/** A server that plays this for every turn. What goes wrong in it fails the test. */
async function startServer(script: (stream: FakeStream) => Promise<void>): Promise<string> {
  const server = await FakeServer.start(script);
  onTestFinished(() => server.close());
  return server.url;
}

describe('chat with a scripted server', () => {
  it('[product-chat-questions, product-escapes] puts a question of the server before the person, and sends back what was chosen', async () => {
    const url = await startServer(async stream => {
      await stream.runRequest();
      stream.send({
        case: 'interactionQuery',
        value: {
          id: 7,
          query: {
            case: 'askQuestionInteractionQuery',
            value: {
              args: {
                title: 'Colours',
                questions: [
                  {
                    id: 'q',
                    prompt: 'Which\x1b[2J?',
                    options: [
                      { id: 'r', label: 'Red' },
                      { id: 'b', label: 'Blue' },
                    ],
                  },
                ],
              },
            },
          },
        },
      });
      const answer = await stream.until('an answer', all => {
        const found = all.find(one => one.case === 'interactionResponse');
        return found?.case === 'interactionResponse' ? found.value : undefined;
      });
      expect(answer).toMatchObject({
        id: 7,
        result: {
          value: {
            result: {
              result: { case: 'success', value: { answers: [{ questionId: 'q', selectedOptionIds: ['b'] }] } },
            },
          },
        },
      });
      stream.finish('Blue it is.');
    });
    const chat = startPty(['chat', '--server', url], { cwd: makeFolder() });
    await chat.until(/\/exit leaves\./);
    chat.type('Paint it\r');
    await chat.until(/Colours\n\nWhich\\x1b\[2J\?\n {2}1\. Red\n {2}2\. Blue\n[^]*own words: /);
    chat.type('2\r');
    await chat.until(/Blue it is\.[^]*Done in/);
    chat.type('/exit\r');
    expect(await chat.exited).toBe(0);
  });

  it('[product-chat-follow-ups] injects what is typed while the turn works, and does not send it again', async () => {
    let turns = 0;
    const url = await startServer(async stream => {
      turns++;
      await stream.runRequest();
      stream.text('I begin.\n');
      const injection = await stream.until('an injection', all => {
        const found = all.find(
          one => one.case === 'conversationAction' && one.value.action.case === 'injectContextAction',
        );
        if (found?.case !== 'conversationAction' || found.value.action.case !== 'injectContextAction') return undefined;
        return found.value.action.value;
      });
      expect(injection.payload).toMatchObject({ value: { userMessage: { text: 'and the tests' } } });
      stream.update({
        case: 'contextInjectionState',
        value: { injectionId: injection.injectionId, state: { state: { case: 'delivered', value: {} } } },
      });
      stream.finish('With the tests.');
    });
    const chat = startPty(['chat', '--server', url], { cwd: makeFolder() });
    await chat.until(/\/exit leaves\./);
    chat.type('Begin\r');
    await chat.until(/I begin\./);
    chat.type('and the tests\r');
    await chat.until(/the agent has read it[^]*With the tests\.[^]*Done in/);
    chat.type('/exit\r');
    expect(await chat.exited).toBe(0);
    expect(turns).toBe(1);
  });
});

it('[product-pipe-closed] ends a run in order when the reader of its output goes away', async () => {
  let isGone = false;
  const url = await startServer(async stream => {
    await stream.runRequest();
    for (let at = 0; !stream.closed && at < 400; at++) {
      stream.text(`line ${at}\n`);
      await new Promise(resolve => setTimeout(resolve, 25));
    }
    isGone = stream.closed;
  });
  const bin = fileURLToPath(new URL('../bin/tandem.js', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=tandem-source', bin, 'run', 'Go on', '--server', url], {
    cwd: makeFolder(),
    env: { PATH: process.env['PATH'], HOME: makeFolder() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr.on('data', piece => (err += String(piece)));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [exitCode] = (await once(child, 'close')) as [number | null];
  expect([exitCode, err.includes('EPIPE')]).toEqual([0, false]);
  await expect.poll(() => isGone, { timeout: 5_000 }).toBe(true);
});

it('[product-no-terminal] refuses a chat without a terminal, and says what there is instead', async () => {
  const { runCommandLine } = await import('../src/command-line.ts');
  const { makeSurroundings } = await import('./surroundings.ts');
  const surroundings = makeSurroundings();
  expect(await runCommandLine(['chat'], surroundings)).toBe(2);
  expect(surroundings.stderr.text).toBe(
    'tandem: chat needs a terminal on both sides; for scripts and pipes there is tandem run.\n',
  );
});
