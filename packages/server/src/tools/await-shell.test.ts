import { describe, expect, it } from 'vitest';
import { openCard, runTool, scriptedCall } from '../../test/tools/scripted-exec.ts';
import type { Script } from '../../test/tools/scripted-exec.ts';
import { parseArguments } from './arguments.ts';
import { awaitShellTool } from './await-shell.ts';
import { ExecFailure } from './tool.ts';

const HEADER = '---\npid: 42\ncwd: "/ws"\ncommand: "make"\n---\n';
const FOOTER = '\n---\nexit_code: 3\nelapsed_ms: 8123\n---\n';

/** A client whose terminal file holds one text after the other, look by look, and that reads by line as clients do. */
function terminal(...texts: (string | undefined)[]): Script['read'] {
  let look = 0;
  return ({ path, offset }) => {
    const text = texts[Math.min(look, texts.length - 1)];
    look += 1;
    if (text === undefined) return { case: 'fileNotFound', value: { path } };
    const pieces = text.split('\n');
    const ranged = offset !== undefined && offset <= pieces.length;
    const value = ranged ? pieces.slice(offset - 1).join('\n') : text;
    return {
      case: 'success',
      value: { path, rangeApplied: ranged, totalLines: pieces.length, output: { case: 'content', value } },
    };
  };
}

const wait = async (args: Partial<Parameters<typeof awaitShellTool.execute>[0]>, read: Script['read']) => {
  const call = scriptedCall({ read: read! });
  return {
    ...(await runTool(awaitShellTool, { shell_id: '7', ...args }, call)),
    calls: call.calls,
    pauses: call.pauses,
  };
};

describe('AwaitShell', () => {
  it('ends when the command has, with its exit code and the output', async () => {
    const { text, result, calls, isError } = await wait(
      {},
      terminal(HEADER, `${HEADER}one\n`, `${HEADER}one\ntwo\n${FOOTER}`),
    );
    expect(calls.map(call => call.args)).toEqual([
      { path: '/terminals/7.txt', toolCallId: 'call-1' },
      { path: '/terminals/7.txt', toolCallId: 'call-1', offset: 6 },
      { path: '/terminals/7.txt', toolCallId: 'call-1', offset: 7 },
    ]);
    expect(text).toBe('Shell 7 has ended with exit code 3.\nOutput:\none\ntwo');
    expect(isError).toBe(false);
    expect(result.case).toBe('success');
    expect(result.value.awaitResult).toMatchObject({
      case: 'complete',
      value: {
        taskId: '7',
        exitCode: 3,
        runtimeMs: 8123n,
        outputFilePath: '/terminals/7.txt',
        wakeReason: 'exit',
        regexRequested: false,
      },
    });
  });

  it('looks at growing intervals up to five seconds and stops at the deadline', async () => {
    const { text, pauses, result } = await wait({ block_until_ms: 20_000 }, terminal(`${HEADER}busy\n`));
    expect(pauses.map(Math.round)).toEqual([500, 800, 1280, 2048, 3277, 5000, 5000, 2095]);
    expect(text).toBe('Shell 7 is still running; 20000 ms of waiting are over.\nOutput:\nbusy');
    expect(result.value.awaitResult).toMatchObject({
      case: 'stillRunning',
      value: { runtimeMs: 20_000n, wakeReason: 'deadline' },
    });
  });

  it('looks once for 0', async () => {
    const { calls, pauses } = await wait({ block_until_ms: 0 }, terminal(HEADER));
    expect([calls.length, pauses]).toEqual([1, []]);
  });

  it('ends when the output matches the pattern, also over a line that was unfinished', async () => {
    const { text, result, pauses } = await wait(
      { pattern: 'listening on (\\d+)' },
      terminal(`${HEADER}liste`, `${HEADER}listening on 8080\n`),
    );
    expect(pauses).toEqual([500]);
    expect(text).toBe('Shell 7 is still running. The output matched: "listening on 8080"\nOutput:\nlistening on 8080');
    expect(result.value.awaitResult).toMatchObject({
      case: 'stillRunning',
      value: { regexRequested: true, regexMatch: 'listening on 8080', wakeReason: 'pattern' },
    });
  });

  it('does not take output that speaks of an exit code for the end', async () => {
    const { text } = await wait({ block_until_ms: 600 }, terminal(`${HEADER}exit_code: 0\n`));
    expect(text).toMatch(/is still running/);
  });

  it('waits a little for a file that is not there yet', async () => {
    const { text } = await wait({}, terminal(undefined, `${HEADER}x${FOOTER}`));
    expect(text).toMatch(/ended with exit code 3/);
    const gone = await wait({}, terminal(undefined));
    expect(gone.text).toBe('There is no shell 7: /terminals/7.txt was not found.');
    expect([gone.isError, gone.result.case, gone.calls.length]).toEqual([true, 'error', 3]);
  });

  it('shows the end of a long output', async () => {
    const { text } = await wait({}, terminal(`${HEADER}${'line of output\n'.repeat(4000)}END${FOOTER}`));
    expect(text.length).toBeLessThan(9_000);
    expect(text).toMatch(/the end of it \(all of it is in \/terminals\/7\.txt\)/);
    expect(text).toMatch(/END$/);
  });

  it('reads on at once after a cut read', async () => {
    let look = 0;
    const { pauses, text } = await wait({}, ({ path, offset }) => {
      look += 1;
      const value = look === 1 ? `${HEADER}a\nb` : `b\nc${FOOTER}`;
      return {
        case: 'success',
        value: { path, truncated: look === 1, rangeApplied: offset !== undefined, output: { case: 'content', value } },
      };
    });
    expect(pauses).toEqual([]);
    expect(text).toMatch(/Output:\na\nb\nc$/);
  });

  it('answers a pattern that cannot be used with an error', async () => {
    const { text, isError, result } = await wait({ pattern: '(' }, terminal(HEADER));
    expect(text).toMatch(/^The pattern is not a regular expression/);
    expect([isError, result.case]).toEqual([true, 'error']);
    const slow = await wait({ pattern: '^(a+)+$' }, terminal(`${'a'.repeat(40)}!`));
    expect(slow.text).toMatch(/takes too long/);
  });

  it.each<[NonNullable<Script['read']>, RegExp]>([
    [{ case: 'rejected', value: { path: '/terminals/7.txt', reason: 'no' } }, /did not allow/],
    [new ExecFailure('unavailable', 'No handler'), /^AwaitShell is not available/],
  ])('turns the failure %o into an error', async (answer, words) => {
    const { text, isError, result } = await wait({}, answer);
    expect(text).toMatch(words);
    expect([isError, result.case]).toEqual([true, 'error']);
  });

  it('takes a number or a task id, and no path', () => {
    expect(parseArguments(awaitShellTool, '{"shell_id":7}')).toEqual({ ok: true, args: { shell_id: '7' } });
    expect(parseArguments(awaitShellTool, '{"task_id":"7","block_until_ms":"100"}')).toEqual({
      ok: true,
      args: { shell_id: '7', block_until_ms: 100 },
    });
    expect(parseArguments(awaitShellTool, '{"shell_id":"../../etc/passwd"}').ok).toBe(false);
  });

  it('opens and closes a card', () => {
    const { context } = scriptedCall({});
    expect(openCard(awaitShellTool.open({}, context), 'awaitToolCall').args.taskId).toBe('');
    expect(openCard(awaitShellTool.close({ shell_id: '7' }, 'cut', context), 'awaitToolCall').result.result.case).toBe(
      'error',
    );
  });
});
