import { describe, expect, test } from 'vitest';
import { Secret } from '../config/secret.ts';
import { createLog, silentLog } from './log.ts';
import { logRun } from './run-line.ts';

async function logged(level: 'debug' | 'info' | 'warn', call: (log: Awaited<ReturnType<typeof createLog>>) => void) {
  const lines: string[] = [];
  call(await createLog(level, line => lines.push(line)));
  return lines;
}

describe('the log', () => {
  test('writes one JSON object a line, with level, time and fields', async () => {
    const lines = await logged('info', log =>
      log.info({ requestId: 'r', count: 3n, bytes: new Uint8Array(5) }, 'hello\nworld'),
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]!.endsWith('}\n')).toBe(true);
    const { time, ...rest } = JSON.parse(lines[0]!) as Record<string, unknown>;
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(rest).toEqual({ level: 'info', requestId: 'r', count: '3', bytes: '5 bytes', msg: 'hello\nworld' });
  });

  test('shows no secret, at any depth, in a text or in an error', async () => {
    const cause = new Error('Bearer abcdefgh.ijkl');
    const fields = {
      key: new Secret('hunter2hunter2'),
      deep: [{ header: 'authorization: Bearer zyxwvuts' }],
      error: new Error('key sk-abcdefgh1234', { cause }),
    };
    const [line] = await logged('info', log => log.info(fields, 'with AIzaSyA1234567890abcdefghijk'));
    expect(line).not.toMatch(/hunter2|zyxwvuts|abcdefgh|AIza/);
    expect(JSON.parse(line!)).toMatchObject({
      key: '[redacted]',
      error: { name: 'Error', message: 'key [redacted]', cause: { message: 'Bearer [redacted]' } },
    });
  });

  test('survives what refers to itself', async () => {
    const round: Record<string, unknown> = {};
    round['self'] = round;
    expect(await logged('info', log => log.info(round, 'x'))).toHaveLength(1);
  });

  test('leaves out what is below its level, and everything when silent', async () => {
    expect(
      await logged('warn', log => (log.info({}, 'a'), log.warn({}, 'b'), log.error({}, 'c'), log.debug({}, 'd'))),
    ).toHaveLength(2);
    expect(await createLog('silent')).toBe(silentLog);
  });

  test('has a run as one line, louder when it failed', async () => {
    const run = {
      requestId: 'r',
      owner: 'local',
      durationMs: 12,
      modelCalls: 1,
      toolCalls: 0,
      retries: 0,
      usage: { outputTokens: 3 },
    };
    const lines = await logged('info', log => {
      logRun(log, { ...run, outcome: 'ended' });
      logRun(log, { ...run, outcome: 'provider_unavailable', detail: 'down' });
    });
    expect(lines.map(line => JSON.parse(line) as object)).toMatchObject([
      { level: 'info', msg: 'run', requestId: 'r', outcome: 'ended', usage: { outputTokens: 3 } },
      { level: 'warn', msg: 'run', outcome: 'provider_unavailable', detail: 'down' },
    ]);
  });
});
