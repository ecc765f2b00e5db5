import { toJson } from '@bufbuild/protobuf';
import { ReadArgsSchema } from '@tandem/protocol/agent';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedBlob, AskedExec, Peer } from '../support/peer.ts';
import { cardsOf, resultOf } from '../support/tool-cards.ts';
import { transports } from '../support/wire.ts';

const READ = { name: 'Read', args: { path: 'a.txt' } };
const THEN = { text: 'I see.' };
/** What the model read of its calls in the request after them. */
const readBack = (house: House) => toolTexts(house.requests.at(-1)!.body);
const isFine = (peer: Peer) => {
  expect(peer.fault).toBeUndefined();
  expect(peer.text).toBe('I see.');
};

describe.each(transports)('execs over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());

  it('[§17.1-number-and-exec-id] have a number and an exec_id of their own', async () => {
    house.say({ calls: [READ, READ, { name: 'Ls', args: { path: '.' } }] }, { calls: [READ] }, THEN);
    const peer = await house.peer().turn('look');
    const numbers = peer.execs.map(({ id }) => id);
    expect(numbers).toHaveLength(5);
    expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
    const execIds = peer.execs.map(({ execId }) => execId);
    expect(new Set(execIds).size).toBe(5);
    expect(execIds).not.toContain('');
    isFine(peer);
  });

  it('[§17.3-several-data-messages] take several data messages before the one that ends them', async () => {
    house.say({ calls: [{ name: 'Shell', args: { command: 'count' } }] }, THEN);
    const peer = house.peer({
      on: {
        shellStreamArgs: async exec => {
          await exec.reply({ case: 'shellStream', value: { event: { case: 'start', value: {} } } });
          for (const data of ['one\n', 'two\n', 'three\n'])
            await exec.reply({ case: 'shellStream', value: { event: { case: 'stdout', value: { data } } } });
          await exec.reply({ case: 'shellStream', value: { event: { case: 'exit', value: { code: 0 } } } });
        },
      },
    });
    await peer.turn('count');
    expect(readBack(house)).toEqual(['one\ntwo\nthree\nExit code: 0']);
    isFine(peer);
  });

  it('[R29-throw-fails-one-call] fail one by one: a throw leaves the siblings alone', async () => {
    house.say({ calls: [READ, { name: 'Read', args: { path: 'b.txt' } }] }, THEN);
    const peer = house.peer({
      on: {
        readArgs: exec => (exec.args.path.endsWith('a.txt') ? exec.throw('EIO: the disk is on fire') : exec.auto()),
      },
    });
    peer.workspace.files.set('b.txt', 'bee');
    await peer.turn('read both');
    const [first, second] = readBack(house);
    expect(first).toMatch(/^Error: .*EIO: the disk is on fire/);
    expect(second).toBe('1|bee');
    isFine(peer);
  });

  it('[R33-abort-on-cancel] are aborted each by its number when the client cancels, and nobody waits for answers', async () => {
    house.say({
      calls: [READ, { name: 'Shell', args: { command: 'sleep 100' } }, { name: 'Ls', args: { path: '.' } }],
    });
    const peer = house.peer({ on: { readArgs: () => {}, shellStreamArgs: () => {} } });
    await peer.open();
    await peer.run('hang');
    await peer.until(() => cardsOf(peer).find(card => card.completed.length > 0), 'end of the listing');
    await peer.cancel();
    await peer.finish();
    const open = peer.execs
      .filter(exec => exec.message.case === 'readArgs' || exec.message.case === 'shellStreamArgs')
      .map(({ id }) => id);
    const aborts = peer.all('control.abort').map(({ message }) => (message!.message.value as any).message.value.id);
    expect(aborts).toEqual(open);
    expect(peer.fault?.code).toBe('canceled');
  });
});

describe('an answer to an exec', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  const readWith = async (answer: (exec: AskedExec, peer: Peer) => unknown) => {
    house.say({ calls: [READ] }, THEN);
    const peer: Peer = house.peer({ on: { readArgs: exec => answer(exec, peer) } });
    await peer.turn('read');
    return { peer, text: readBack(house)[0]!, result: resultOf(cardsOf(peer)[0]!) };
  };
  const content = (text: string) => ({
    case: 'readResult' as const,
    value: {
      result: { case: 'success' as const, value: { output: { case: 'content' as const, value: text }, totalLines: 1 } },
    },
  });

  it('[R28-mismatch-is-tool-error] of another kind is a tool error, and the turn goes on', async () => {
    const { peer, text, result } = await readWith(exec =>
      exec.reply({ case: 'writeResult', value: { result: { case: 'success', value: { path: 'a.txt' } } } }),
    );
    expect(text).toMatch(/^Error: .*writeResult.*readArgs/s);
    expect(result?.case).toBe('error');
    isFine(peer);
  });

  it.each([
    ['a result without a branch', { case: 'readResult' as const, value: {} }],
    ['nothing at all', { case: undefined }],
  ])(
    '[R28-unset-is-tool-error] X04: an answer that holds %s is a tool error and no empty success',
    async (_what, answer) => {
      const { peer, text, result } = await readWith(exec => exec.reply(answer));
      expect(text).toMatch(/^Error: .*malformed/);
      expect(result?.case).toBe('error');
      isFine(peer);
    },
  );

  it('[R29-stream-close-is-no-result] F11: a result may follow its stream_close', async () => {
    const { peer, text } = await readWith(async exec => {
      await exec.close();
      await exec.reply(content('still here'));
    });
    expect(text).toBe('1|still here');
    isFine(peer);
  });

  it('[R29-unknown-id-ignored] F14: an answer to nobody, or to a call that has its result, is ignored and the run goes on', async () => {
    const { peer, text } = await readWith(async (exec, client) => {
      await client.send({ case: 'execClientMessage', value: { id: 4_000_000_000, message: content('for nobody') } });
      await client.send({ case: 'interactionResponse', value: { id: 4_000_000_000 } });
      await client.send({ case: 'kvClientMessage', value: { id: 4_000_000_000 } });
      await exec.reply(content('the first'));
      await exec.reply(content('the second'));
      await exec.throw('too late');
    });
    expect(text).toBe('1|the first');
    isFine(peer);
    expect(house.server.log.some(line => line.level === 'warn' && line.fields['id'] === 4_000_000_000)).toBe(true);
  });

  it('[R29-unknown-id-ignored] as shell_result after the exit of the stream is ignored', async () => {
    house.say({ calls: [{ name: 'Shell', args: { command: 'true' } }] }, THEN);
    const peer = house.peer({
      on: {
        shellStreamArgs: async exec => {
          await exec.reply({ case: 'shellStream', value: { event: { case: 'exit', value: { code: 0 } } } });
          await exec.reply({ case: 'shellResult', value: { result: { case: 'failure', value: { exitCode: 7 } } } });
        },
      },
    });
    await peer.turn('run');
    expect(readBack(house)).toEqual(['(no output)\nExit code: 0']);
    isFine(peer);
  });

  it('[R35-throw-means-unavailable] by throw of a client without such hands tells the model that the tool is not available', async () => {
    const { peer, text, result } = await readWith(exec => exec.throw('No handler registered for readArgs'));
    expect(text).toMatch(/^Error: .*not available/);
    expect(result?.case).toBe('error');
    isFine(peer);
  });

  it('[X17-whole-file-totals] of a ranged read tells the model the line count of the whole file', async () => {
    house.say({ calls: [{ name: 'Read', args: { path: 'long.txt', offset: 3, limit: 2 } }] }, THEN);
    const peer = house.peer();
    peer.workspace.files.set('long.txt', Array.from({ length: 40 }, (_, at) => `line ${at + 1}`).join('\n'));
    await peer.turn('read');
    expect(readBack(house)).toEqual(['3|line 3\n4|line 4\n(Lines 3 to 4 of 40.)']);
    expect(resultOf(cardsOf(peer)[0]!)?.value).toMatchObject({
      totalLines: 40,
      readRange: { startLine: 3, endLine: 4 },
    });
  });
});

describe('a command', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  const run = async (args: object, events: object[]) => {
    house.say({ calls: [{ name: 'Shell', args }] }, THEN);
    let asked: any;
    const peer = house.peer({
      on: {
        shellStreamArgs: async exec => {
          asked = exec.args;
          for (const event of events) await exec.reply({ case: 'shellStream', value: { event } } as never);
          await exec.close();
        },
      },
    });
    await peer.turn('run it');
    isFine(peer);
    const [card] = cardsOf(peer);
    return { asked, text: readBack(house)[0]!, card: card!, peer };
  };
  const exit = (more: object = {}) => ({ case: 'exit', value: { code: 0, ...more } });
  const stdout = (data: string) => ({ case: 'stdout', value: { data } });

  it('[R30-shell-args] F37: a command goes out with its times, the background and closed input', async () => {
    const { asked, card } = await run({ command: 'npm test' }, [exit()]);
    expect(asked).toMatchObject({
      command: 'npm test',
      timeout: 30_000,
      timeoutBehavior: 2,
      hardTimeout: 86_400_000,
      fileOutputThresholdBytes: 40_000n,
      closeStdin: true,
      toolCallId: card.callId,
    });
    const given = await run({ command: 'npm start', block_until_ms: 0 }, [exit()]);
    expect(given.asked).toMatchObject({ timeoutBehavior: 2, closeStdin: false });
    expect(given.asked.timeout).toBeLessThan(10);
  });

  it('[R30-backgrounded-ends-call] that goes to the background ends its call, and the model learns the shell id', async () => {
    const backgrounded = { case: 'backgrounded', value: { shellId: 41, command: 'npm start', pid: 4711 } };
    const { text, card } = await run({ command: 'npm start', block_until_ms: 10 }, [
      stdout('listening\n'),
      backgrounded,
    ]);
    expect(text).toContain('shell id 41');
    expect(text).toContain('/home/dev/project/.terminals/41.txt');
    expect(text).toContain('listening');
    expect(resultOf(card)).toMatchObject({ case: 'success', value: { shellId: 41, pid: 4711 } });
  });

  it('[R30-output-location] with more output than the threshold tells the model which file has all of it', async () => {
    const filePath = '/home/dev/project/.outputs/7.txt';
    const { text, card } = await run({ command: 'cat' }, [
      stdout('the beginning\n'),
      exit({ outputLocation: { filePath, sizeBytes: 50_000n, lineCount: 900n } }),
    ]);
    expect(text).toContain('the beginning');
    expect(text).toContain(filePath);
    expect(text).toContain('50000 bytes');
    expect(resultOf(card)?.value.outputLocation).toMatchObject({ filePath });
  });

  it('[R34-head-and-tail] with large output reaches the model as head and tail, and its card keeps all', async () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`);
    const whole = lines.join('');
    const pieces = [0, 1, 2, 3].map(at => stdout(lines.slice(at * 5_000, at * 5_000 + 5_000).join('')));
    const { text, card } = await run({ command: 'seq' }, [...pieces, exit()]);
    expect(text.startsWith('line 0\nline 1\n')).toBe(true);
    expect(text).toContain('line 19999\nExit code: 0');
    const [, left] = /… (\d+) characters left out …/.exec(text)!;
    const shown = text.replace(/\n… \d+ characters left out …\n/, '').replace('\nExit code: 0', '').length;
    expect(shown + Number(left)).toBe(whole.length - 1); // the last line end is not shown
    expect(text.length).toBeLessThan(40_000);
    expect(resultOf(card)?.value.stdout).toBe(whole);
  });

  it('[R34-no-output] without output says so, and a failure reaches the provider marked as an error', async () => {
    expect((await run({ command: 'true' }, [exit()])).text).toBe('(no output)\nExit code: 0');
    const failed = await run({ command: 'false' }, [exit({ code: 3 })]);
    expect(failed.text).toBe('Error: Exit code: 3\n(no output)');
    expect(resultOf(failed.card)).toMatchObject({ case: 'failure', value: { exitCode: 3 } });
  });
});

describe('a search', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  const search = async (call: { name: string; args: object }, result: object) => {
    house.say({ calls: [call] }, THEN);
    let asked: any;
    const peer = house.peer({
      on: {
        grepArgs: async exec => {
          asked = exec.args;
          await exec.reply({
            case: 'grepResult',
            value: { result: { case: 'success', value: { workspaceResults: { '/home/dev/project': { result } } } } },
          } as never);
        },
      },
    });
    await peer.turn('search');
    isFine(peer);
    return { asked, text: readBack(house)[0]! };
  };

  it('[R30-head-limit-on-server] shows no more than head_limit after offset, though the client sent all', async () => {
    const matches = ['one', 'two', 'three', 'four', 'five'].map((text, at) => ({ lineNumber: at + 1, content: text }));
    const { asked, text } = await search(
      { name: 'Grep', args: { pattern: 'o|e', head_limit: 2, offset: 1 } },
      { case: 'content', value: { matches: [{ file: './n.txt', matches }], totalMatchedLines: 5 } },
    );
    expect([asked.headLimit, asked.offset]).toEqual([undefined, undefined]);
    for (const shown of ['two', 'three']) expect(text).toContain(shown);
    for (const hidden of ['one', 'four', 'five']) expect(text).not.toContain(hidden);
  });

  it('[R32-glob-is-grep] by name is a grep with an empty pattern that asks for files', async () => {
    const { asked, text } = await search(
      { name: 'Glob', args: { glob_pattern: '*.ts' } },
      { case: 'files', value: { files: ['./src/a.ts', './b.ts'], totalFiles: 2 } },
    );
    expect(asked).toMatchObject({ pattern: '', glob: '**/*.ts', outputMode: 'files_with_matches' });
    expect(text).toBe('2 files:\nsrc/a.ts\nb.ts');
  });
});

describe('an edit', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  const replace = (old_string: string, new_string: string) => ({
    name: 'StrReplace',
    args: { path: 'a.txt', old_string, new_string },
  });
  const edit = async (call: { name: string; args: object }, on?: Peer['on'], text = 'one\ntwo\nthree\n') => {
    house.say({ calls: [call] }, THEN);
    const peer = house.peer(on ? { on } : {});
    peer.workspace.files.set('a.txt', text);
    await peer.turn('edit');
    isFine(peer);
    return { peer, text: readBack(house)[0]!, execs: peer.execs.slice(1), cards: cardsOf(peer) };
  };

  it("[R31-edit-is-read-and-write] reads and then writes the whole text, both under the call's id", async () => {
    const { execs, cards } = await edit(replace('two', 'zwei'));
    expect(execs.map(({ message }) => message.case)).toEqual(['readArgs', 'writeArgs']);
    expect(execs.map(({ message }) => (message.value as any).toolCallId)).toEqual([cards[0]!.callId, cards[0]!.callId]);
    expect(execs[1]!.message.value).toMatchObject({ path: '/home/dev/project/a.txt', fileText: 'one\nzwei\nthree\n' });
    const written = await edit({ name: 'Write', args: { path: 'a.txt', contents: 'new\n' } });
    expect(written.execs.map(({ message }) => message.case)).toEqual(['readArgs', 'writeArgs']);
    expect(written.peer.workspace.files.get('a.txt')).toBe('new\n');
  });

  it('[R31-edit-one-card] shows one card with before, after, diff and line counts', async () => {
    const { cards } = await edit(replace('two', 'zwei\ndrei'));
    expect(cards).toHaveLength(1);
    expect(cards[0]!.completed[0]!.toolCall!.tool.case).toBe('editToolCall');
    const result = resultOf(cards[0]!);
    expect(result).toMatchObject({
      case: 'success',
      value: {
        linesAdded: 2,
        linesRemoved: 1,
        beforeFullFileContent: 'one\ntwo\nthree\n',
        afterFullFileContent: 'one\nzwei\ndrei\nthree\n',
      },
    });
    expect(result?.value.diffString).toMatch(/^-two$/m);
    expect(result?.value.diffString).toMatch(/^\+zwei$/m);
  });

  it('[R31-truncated-refused] makes a new file where there is none, and refuses what comes cut or as bytes', async () => {
    const made = await edit({ name: 'Write', args: { path: 'new/file.txt', contents: 'hello\n' } });
    expect(made.peer.workspace.files.get('new/file.txt')).toBe('hello\n');
    expect(resultOf(made.cards[0]!)).toMatchObject({ case: 'success', value: { linesAdded: 1 } });
    expect(resultOf(made.cards[0]!)?.value.beforeFullFileContent).toBeUndefined();
    const success = (value: object) => ({
      readArgs: (exec: AskedExec) =>
        exec.reply({ case: 'readResult', value: { result: { case: 'success', value } } } as never),
    });
    const cut = await edit(
      replace('two', 'zwei'),
      success({ output: { case: 'content', value: 'one\ntwo\n' }, totalLines: 90_000, truncated: true }),
    );
    const binary = await edit(
      replace('two', 'zwei'),
      success({ output: { case: 'data', value: new Uint8Array([0, 1, 2, 0xff]) } }),
    );
    for (const refused of [cut, binary]) {
      expect(refused.execs.map(({ message }) => message.case)).toEqual(['readArgs']);
      expect(refused.text).toMatch(/^Error: .*(too large|binary)/);
      expect(resultOf(refused.cards[0]!)?.case).toBe('error');
    }
  });

  // F49
  it('[R31-lf-on-the-wire] sends LF and no byte order mark, whatever the client and the model wrote', async () => {
    const { peer } = await edit(replace('two\r\nthree', 'zwei\r\ndrei'), undefined, '\ufeffone\r\ntwo\r\nthree\r\n');
    expect(peer.workspace.files.get('a.txt')).toBe('one\nzwei\ndrei\n');
    const { peer: second } = await edit({ name: 'Write', args: { path: 'a.txt', contents: '\ufeffx\r\ny\r\n' } });
    expect(second.workspace.files.get('a.txt')).toBe('x\ny\n');
  });
});

describe('waiting on a clock that stands', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ standing: true });
  });
  afterAll(() => house.close());

  it('[R29-stream-close-is-no-result] ends a call 2 s after a stream_close that no result follows', async () => {
    house.say({ calls: [READ] }, THEN);
    const peer = house.peer({ on: { readArgs: exec => exec.close() } });
    await peer.open();
    await peer.run('read');
    await house.clock.untilTimer(2_000);
    house.clock.advance(1_999);
    expect(peer.all('update.toolCallCompleted')).toEqual([]);
    house.clock.advance(1);
    await peer.finish();
    expect(readBack(house)).toEqual(['Error: the client closed readArgs without a result.']);
    isFine(peer);
  });

  it('[R30-close-before-exit] F40: calls a command unknown whose stream closed before its exit, and never successful', async () => {
    house.say({ calls: [{ name: 'Shell', args: { command: 'cd /gone && ls' } }] }, THEN);
    const peer = house.peer({
      on: {
        shellStreamArgs: async exec => {
          await exec.reply({ case: 'shellStream', value: { event: { case: 'stdout', value: { data: 'so far\n' } } } });
          await exec.close();
        },
      },
    });
    await peer.open();
    await peer.run('list');
    await house.clock.untilTimer(2_000);
    house.clock.advance(2_000);
    await peer.finish();
    const [text] = readBack(house);
    expect(text).toMatch(/^Error: /);
    expect(text).toMatch(/status is unknown/);
    expect(text).toContain('so far');
    expect(text).not.toContain('Exit code: 0');
    const result = resultOf(cardsOf(peer)[0]!);
    expect(result?.case).toBe('failure');
    expect(result?.value.exitCode).not.toBe(0);
    isFine(peer);
  });

  const header = '---\npid: 99\ncwd: /home/dev/project\ncommand: npm test\n---\n';
  const footer = '\n---\nexit_code: 3\nelapsed_ms: 700\n---\n';
  const waitFor = async (args: object, looks: string[]) => {
    house.say({ calls: [{ name: 'AwaitShell', args: { shell_id: '41', ...args } }] }, THEN);
    const asked: any[] = [];
    const firstLook = Promise.withResolvers<void>();
    const peer = house.peer({
      on: {
        readArgs: async exec => {
          asked.push(exec.args);
          peer.workspace.files.set('.terminals/41.txt', looks[Math.min(asked.length, looks.length) - 1]!);
          await exec.auto();
          firstLook.resolve(); // acknowledged: the server has taken it and waits on its clock
        },
      },
    });
    await peer.open();
    await peer.run('wait for it');
    await firstLook.promise;
    return { peer, asked };
  };

  it('[R30-terminal-file-polled] looks at the terminal file again until it has its footer, and says the exit', async () => {
    const { peer, asked } = await waitFor({}, [`${header}working\n`, `${header}working\ndone\n${footer}`]);
    expect(asked.map(args => toJson(ReadArgsSchema, args))).toMatchObject([
      { path: '/home/dev/project/.terminals/41.txt' },
    ]);
    house.clock.advance(500);
    await peer.finish();
    expect(asked).toHaveLength(2);
    expect(readBack(house)[0]).toContain('has ended with exit code 3');
    expect(resultOf(cardsOf(peer)[0]!)?.value.awaitResult).toMatchObject({
      case: 'complete',
      value: { wakeReason: 'exit', exitCode: 3 },
    });
  });

  it('[R30-terminal-file-polled] stops at a pattern, and at the deadline, and says which', async () => {
    const matched = await waitFor({ pattern: 'listening on \\d+' }, [`${header}listening on 8080\n`]);
    await matched.peer.finish();
    expect(readBack(house)[0]).toContain('still running');
    expect(readBack(house)[0]).toContain('"listening on 8080"');
    const late = await waitFor({ block_until_ms: 700 }, [`${header}working\n`]);
    house.clock.advance(500);
    await house.clock.untilTimer(200);
    house.clock.advance(200);
    await late.peer.finish();
    expect(readBack(house)[0]).toContain('still running; 700 ms of waiting are over');
    expect(resultOf(cardsOf(late.peer)[0]!)?.value.awaitResult).toMatchObject({
      case: 'stillRunning',
      value: { wakeReason: 'deadline' },
    });
  });
});

describe('blobs asked of the client', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  it('[§20-kv-by-number] reach the question whose number an answer carries, in whatever order answers come', async () => {
    house.say(THEN);
    const stored = [
      { role: 'system', content: 'You are brief.' },
      { role: 'user', content: 'first question' },
      { role: 'assistant', content: 'first answer' },
    ].map(message => Buffer.from(JSON.stringify(message)));
    const ids = stored.map(data => createHash('sha256').update(data).digest());
    const blobs = new Map(ids.map((id, at) => [id.toString('hex'), Uint8Array.from(stored[at]!)]));
    const asked: AskedBlob[] = [];
    const peer = house.peer({
      blobs,
      onBlob: async blob => {
        if (blob.kind === 'setBlobArgs') return blob.auto();
        asked.push(blob);
        if (asked.length === 3) for (const one of asked.reverse()) await one.auto();
        return undefined;
      },
    });
    await peer.turn('second question', { conversationState: { rootPromptMessagesJson: ids } });
    isFine(peer);
    const { messages } = house.requests[0]!.body;
    expect(messages[0]).toMatchObject({ role: 'system', content: 'You are brief.' });
    expect(textsOf(house.requests[0]!.body, 'user')[0]).toBe('first question');
    expect(textsOf(house.requests[0]!.body, 'assistant')).toEqual(['first answer']);
    expect(peer.faults).toEqual([]);
  });
});
