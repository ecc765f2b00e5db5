import { describe, expect, it } from 'vitest';
import { openCard, runTool, scriptedCall } from '../../test/tools/scripted-exec.ts';
import type { Script } from '../../test/tools/scripted-exec.ts';
import { shellTool } from './shell.ts';
import { ExecFailure } from './tool.ts';
import type { ToolFacts } from './tool.ts';

type Arguments = Parameters<typeof shellTool.execute>[0];
const shell = async (
  events: NonNullable<Script['shell']>,
  args: Partial<Arguments> = {},
  facts: Partial<ToolFacts> = {},
) => {
  const call = scriptedCall({ shell: events }, facts);
  return {
    ...(await runTool(shellTool, { command: 'echo hi', ...args }, call)),
    sent: call.calls[0]?.args,
    deltas: call.deltas,
  };
};
const out = (data: string) => ({ case: 'stdout' as const, value: { data } });
const err = (data: string) => ({ case: 'stderr' as const, value: { data } });
const exit = (code: number, more: object = {}) => ({ case: 'exit' as const, value: { code, cwd: '/ws', ...more } });

describe('Shell', () => {
  it('sends the command with its times, the workspace folder and closed input', async () => {
    const { sent, args } = await shell([exit(0)], { description: 'say hi' });
    expect(sent).toEqual({
      command: 'echo hi',
      workingDirectory: '/ws',
      timeout: 30000,
      timeoutBehavior: 2,
      hardTimeout: 86400000,
      fileOutputThresholdBytes: 40000n,
      closeStdin: true,
      toolCallId: 'call-1',
      description: 'say hi',
      outputNotification: undefined,
    });
    expect(args).toMatchObject({ command: 'echo hi', workingDirectory: '/ws', toolCallId: 'call-1' });
  });

  it('takes the time in the foreground and the folder from the call', async () => {
    const { sent } = await shell([exit(0)], { block_until_ms: 5000, working_directory: 'src' });
    expect([sent.timeout, sent.workingDirectory, sent.closeStdin]).toEqual([5000, '/ws/src', true]);
  });

  it('goes to the background at once, with open input, for 0', async () => {
    const { sent } = await shell([exit(0)], { block_until_ms: 0 });
    expect([sent.timeout, sent.timeoutBehavior, sent.closeStdin]).toEqual([1, 2, false]);
  });

  it('names no folder when the workspace is unknown', async () => {
    expect((await shell([exit(0)], {}, { workspacePaths: [] })).sent.workingDirectory).toBe('');
  });

  it('shows output while it runs and tells it in order', async () => {
    const { text, deltas, result, isError } = await shell([
      { case: 'start', value: {} },
      out('one\n'),
      err('two\n'),
      out('three\n'),
      exit(0),
    ]);
    expect(deltas.map(delta => delta.delta)).toMatchObject([
      { case: 'shellToolCallDelta', value: { delta: { case: 'stdout', value: { content: 'one\n' } } } },
      { case: 'shellToolCallDelta', value: { delta: { case: 'stderr', value: { content: 'two\n' } } } },
      { case: 'shellToolCallDelta', value: { delta: { case: 'stdout', value: { content: 'three\n' } } } },
    ]);
    expect(text).toBe('one\ntwo\nthree\nExit code: 0');
    expect(isError).toBe(false);
    expect(result).toMatchObject({
      case: 'success',
      value: { exitCode: 0, stdout: 'one\nthree\n', stderr: 'two\n', interleavedOutput: 'one\ntwo\nthree\n' },
    });
  });

  it('says that there was no output', async () => {
    expect((await shell([exit(0)])).text).toBe('(no output)\nExit code: 0');
  });

  it('names a failing exit code in the text and on the card', async () => {
    const { text, result, isError } = await shell([out('out\n'), err('bad\n'), exit(3)]);
    expect(text).toBe('Exit code: 3\nout\nbad');
    expect(result).toMatchObject({
      case: 'failure',
      value: { exitCode: 3, stdout: 'out\n', stderr: 'bad\n', aborted: false },
    });
    expect(isError).toBe(true);
  });

  it.each([
    [{ aborted: true, abortReason: 2 }, 4294967295, /because its time was over \(exit code -1\)/],
    [{ aborted: true, abortReason: 1 }, 130, /The user stopped the command/],
    [{ aborted: true }, 0, /The command was stopped \(exit code 0\)/],
  ])('an aborted exit %o with code %i is a failure', async (more, code, words) => {
    const { text, result } = await shell([out('part'), exit(code, more)]);
    expect(result).toMatchObject({ case: 'failure', value: { exitCode: code | 0, aborted: true, stdout: 'part' } });
    expect(text).toMatch(words);
  });

  it('names the file that holds the whole output', async () => {
    const outputLocation = { filePath: '/terminals/out.txt', sizeBytes: 90000n, lineCount: 4000n };
    const { text, result } = await shell([out('x'), exit(0, { outputLocation })]);
    expect(text).toContain('(90000 bytes, 4000 lines) is in /terminals/out.txt');
    expect(result.value.outputLocation).toMatchObject(outputLocation);
  });

  it('tells head and tail of a large output with the characters left out, and keeps all of it on the card', async () => {
    const full = `HEAD-MARK\n${Array.from({ length: 9000 }, (_, at) => `row ${at} of plain output`).join('\n')}\nTAIL-MARK\n`;
    const pieces = full.match(/[\s\S]{1,60000}/g)!.map(out);
    const { text, result } = await shell([...pieces, exit(0)]);
    expect(text).toMatch(/^HEAD-MARK/);
    expect(text).toMatch(/TAIL-MARK\nExit code: 0$/);
    const left = Number(/… (\d+) characters left out …/.exec(text)?.[1]);
    expect(Math.abs(left - (full.length - text.length))).toBeLessThan(100);
    expect(result.value.stdout).toBe(full);
  });

  it('bounds what the card keeps', async () => {
    const piece = 'x'.repeat(64 * 1024);
    const { result } = await shell([...Array.from({ length: 40 }, () => out(piece)), out('END'), exit(0)]);
    const { stdout, elidedChars, outputHead, outputTail } = result.value;
    expect(stdout.length).toBeLessThan(1_000_100);
    expect(stdout).toMatch(/END$/);
    expect(elidedChars + outputHead.length + outputTail.length).toBe(40 * 64 * 1024 + 3);
  });

  it('ends with the command in the background, naming shell and file', async () => {
    const { text, result, isError } = await shell([
      out('early\n'),
      {
        case: 'backgrounded',
        value: { shellId: 77, pid: 4242, command: 'c', workingDirectory: '/ws/src', msToWait: 1000, reason: 1 },
      },
    ]);
    expect(text).toMatch(/still running in the background: shell id 77, pid 4242\./);
    expect(text).toContain('/terminals/77.txt');
    expect(text).toMatch(/Output so far:\nearly$/);
    expect(isError).toBe(false);
    expect(result).toMatchObject({
      case: 'success',
      value: {
        shellId: 77,
        pid: 4242,
        msToWait: 1000,
        backgroundReason: 1,
        workingDirectory: '/ws/src',
        stdout: 'early\n',
      },
    });
  });

  it('marks the card of a backgrounded command', async () => {
    const call = scriptedCall({ shell: [{ case: 'backgrounded', value: { shellId: 1, pid: 2 } }] });
    const { card } = await shellTool.execute({ command: 'sleep 9' }, call.context);
    expect(openCard(card, 'shellToolCall').result).toMatchObject({
      isBackground: true,
      terminalsFolder: '/terminals',
      pid: 2,
    });
  });

  it.each<[NonNullable<Script['shell']>[number], string, RegExp]>([
    [
      { case: 'rejected', value: { command: 'c', reason: 'no human here' } } as never,
      'rejected',
      /did not allow.*no human here/,
    ],
    [
      { case: 'permissionDenied', value: { error: 'EACCES', isReadonly: true } } as never,
      'permissionDenied',
      /read-only\. EACCES/,
    ],
    [{ case: 'sandboxUnsupported', value: { reason: 'no sandbox' } } as never, 'spawnError', /no sandbox/],
    [{ case: 'start', value: {} } as never, 'failure', /Exit status unknown/],
    [new ExecFailure('unavailable', 'No handler'), 'spawnError', /not available/],
    [new ExecFailure('thrown', 'spawn failed'), 'spawnError', /^spawn failed$/],
    [new ExecFailure('expired', 'The client did not answer in time.'), 'failure', /Exit status unknown/],
  ])('turns the ending %o into %s', async (ending, branch, words) => {
    const { text, result, isError } = await shell([ending]);
    expect(result.case).toBe(branch);
    expect(text).toMatch(words);
    expect(isError).toBe(true);
  });

  it('never makes a stream that closed before exit a success', async () => {
    const { text, result, isError } = await shell([
      out('some\n'),
      new ExecFailure('closed', 'The stream closed before exit.'),
    ]);
    expect(result).toMatchObject({ case: 'failure', value: { exitCode: -1, stdout: 'some\n' } });
    expect(result.value.stderr).toMatch(/exit status unknown/);
    expect(text).toMatch(
      /^Exit status unknown: The stream closed before exit\. A missing working directory does that; it was \/ws\./,
    );
    expect(text).toMatch(/some$/);
    expect(isError).toBe(true);
  });

  it('opens and closes a card', () => {
    const { context } = scriptedCall({});
    expect(openCard(shellTool.open({}, context), 'shellToolCall').args.command).toBe('');
    const closed = openCard(shellTool.close({ command: 'x' }, 'aborted', context), 'shellToolCall');
    expect(closed.result.result).toMatchObject({ case: 'spawnError', value: { command: 'x', error: 'aborted' } });
  });
});
