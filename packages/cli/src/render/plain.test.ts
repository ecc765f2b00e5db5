import type { RunEvent, ToolEvent } from '@tandem/client';
import { describe, expect, it } from 'vitest';
import { costOfUsage } from './cost.ts';
import type { Price } from './cost.ts';
import { createPlainRender } from './plain.ts';
import { createTtyRender, wantsColours } from './tty.ts';

const failure = { code: 'unavailable', title: 'Unavailable', message: 'no', retryable: true } as const;
const end = { type: 'end', outcome: 'ended', text: '', conversationId: 'c' } as const;

/** What is seen on a stream after these events, half a second a look at the clock. */
function shown(events: readonly RunEvent[], to: 'stdout' | 'stderr' = 'stdout', isTerminal = false): string {
  let time = 0;
  const look = { folder: '/w', now: () => (time += 500) };
  const render = isTerminal ? createTtyRender({ ...look, hasColours: true }) : createPlainRender(look);
  return events
    .flatMap(render)
    .filter(piece => piece.to === to)
    .map(piece => piece.text)
    .join('');
}

const call = (name: string, status: 'partial' | 'running' | 'completed' | 'failed', more: object = {}): RunEvent =>
  ({ type: 'tool', id: 'call-1', name, status, ...more }) as RunEvent;

describe('the text output', () => {
  it('streams the answer as it is and closes its last line', () => {
    expect(shown([{ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, end])).toBe('Hello\n');
  });

  it('[product-tool-lines] shows one line for a call, however many events it has', () => {
    const args = { path: '/w/src/a.txt' };
    const events = [
      call('read', 'partial', { args: {} }),
      call('read', 'running', { args }),
      call('read', 'completed', { args, result: { success: {} } }),
    ];
    expect(shown([{ type: 'text', text: 'I look.' }, ...events, { type: 'text', text: 'Done.\n' }, end])).toBe(
      'I look.\n● Read src/a.txt\nDone.\n',
    );
  });

  it('marks a call that failed, with the reason', () => {
    const args = { path: '/w/none' };
    expect(
      shown([
        call('read', 'running', { args }),
        call('read', 'failed', { args, result: { error: { errorMessage: 'File not found' } } }),
        end,
      ]),
    ).toBe('● Read none\n  ✗ File not found\n');
    expect(
      shown([
        call('edit', 'failed', { args, result: { rejected: { path: '/w/none', reason: 'this run is read-only' } } }),
        end,
      ]),
    ).toBe('● Edit none\n  ✗ rejected: this run is read-only\n');
  });

  it('names the call that failed when another one was shown since', () => {
    const a = { type: 'tool', id: 'a', name: 'read', args: { path: '/w/a' } } as const;
    const b = { type: 'tool', id: 'b', name: 'read', args: { path: '/w/b' } } as const;
    const events: RunEvent[] = [
      { ...a, status: 'running' },
      { ...b, status: 'running' },
      { ...a, status: 'failed', result: { error: { errorMessage: 'gone' } } },
    ];
    expect(shown(events)).toBe('● Read a\n● Read b\n  ✗ Read a: gone\n');
  });

  it('shows the beginning and the end of a long output', () => {
    const stdout = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`).join('');
    const text = shown([call('shell', 'completed', { args: { command: 'seq 20' }, result: { success: { stdout } } })]);
    expect(text).toBe(
      '● Run seq 20\n    line 1\n    line 2\n    line 3\n    line 4\n    … 12 more lines\n    line 17\n    line 18\n    line 19\n    line 20\n',
    );
  });

  it('says the exit code of a command that failed', () => {
    const result = { failure: { exitCode: 3, stdout: '', stderr: 'no\n' } };
    expect(shown([call('shell', 'failed', { args: { command: 'x' }, result })])).toBe(
      '● Run x\n  ✗ exit code 3\n    no\n',
    );
  });

  it('[product-tool-lines] says whose output it is when calls run side by side', () => {
    const ended = (id: string, status: ToolEvent['status'], result: object) =>
      call('shell', status, { id, args: { command: id }, result });
    const text = shown([
      call('shell', 'running', { id: 'a', args: { command: 'a' } }),
      call('shell', 'running', { id: 'b', args: { command: 'b' } }),
      call('shell', 'running', { id: 'c', args: { command: 'c' } }),
      ended('a', 'completed', { success: { stdout: 'from a' } }),
      ended('c', 'completed', { success: { stdout: 'from c' } }),
      ended('b', 'failed', { failure: { exitCode: 2, stderr: 'from b' } }),
    ]);
    expect(text).toBe(
      '● Run a\n● Run b\n● Run c\n' +
        '  ↳ Run a\n    from a\n  ↳ Run c\n    from c\n  ✗ Run b: exit code 2\n    from b\n',
    );
  });

  it('[product-tool-lines] repeats no title right below the card, and does once the answer went on', () => {
    const result = { success: { stdout: 'hi' } };
    const running: RunEvent = call('shell', 'running', { args: { command: 'x' } });
    const done = call('shell', 'completed', { args: { command: 'x' }, result });
    expect(shown([running, done])).toBe('● Run x\n    hi\n');
    expect(shown([running, { type: 'text', text: 'Meanwhile.' }, done])).toBe(
      '● Run x\nMeanwhile.\n  ↳ Run x\n    hi\n',
    );
  });

  it('[product-live-output] shows output while the command runs: its beginning at once, the middle folded, its end', () => {
    const render = createPlainRender({ folder: '/w', now: () => 0, showsLive: true });
    const write = (event: RunEvent) =>
      render(event)
        .map(piece => piece.text)
        .join('');
    const output = (text: string, stream: 'stdout' | 'stderr' = 'stdout'): RunEvent => ({
      type: 'tool-output',
      id: 'call-1',
      stream,
      text,
    });
    expect(write(call('shell', 'running', { args: { command: 'x' } }))).toBe('● Run x\n');
    expect(write(output('one\ntw'))).toBe('    one\n');
    expect(write(output('oops\n', 'stderr'))).toBe('    oops\n');
    expect(write(output('o\n\x1b[3'))).toBe('    two\n');
    expect(write(output('1mred\r\n'))).toBe('    red\n');
    expect(write(output(Array.from({ length: 9 }, (_, at) => `${at}\n`).join('')))).toBe('');
    expect(write(output('open'))).toBe('');
    // what was shown already is not shown again
    expect(write(call('shell', 'completed', { result: { success: { stdout: 'all of it' } } }))).toBe(
      '    … 6 more lines\n    6\n    7\n    8\n    open\n',
    );
  });

  it('[product-cost] says what the turn cost where its price is known, and nothing where it is not', () => {
    const usage = { inputTokens: 500_000, cacheReadTokens: 1_000_000, outputTokens: 100_000 };
    const at = (price: Price | undefined, more: RunEvent[] = []) => {
      const render = createPlainRender({ folder: '/w', now: () => 0, costOf: used => costOfUsage(used, price) });
      return [...more, { ...end, usage }].flatMap(render).at(-1)!.text;
    };
    const figures = 'Done in 0.0 s · 1,500,000 tokens in (1,000,000 cached), 100,000 out';
    expect(at({ input: 2, output: 10, cacheRead: 0.5 })).toBe(`${figures} · $2.50\n`);
    expect(at({ input: 2, output: 10 })).toBe(`${figures} · $4.00\n`);
    expect(at({ input: 0.001, output: 0 })).toBe(`${figures} · $0.0015\n`);
    expect(at({ input: 0, output: 0 })).toBe(`${figures} · $0.00\n`);
    expect(at(undefined)).toBe(`${figures}\n`);
    // what is free costs nothing, whatever was told of its tokens
    expect(costOfUsage(undefined, { input: 0, output: 0 })).toBe(0);
    expect(costOfUsage(undefined, { input: 0, output: 1 })).toBeUndefined();
    const child: RunEvent = { type: 'child', id: 'call-1', event: { type: 'text', text: 'x' } };
    expect(at({ input: 2, output: 10 }, [child])).toBe(`${figures} · at least $4.00\n`);
  });

  it('[product-answering-model] names a model that stood in where it answered, and only there', () => {
    const standIn: RunEvent = { type: 'model', name: 'The\x1b[1m Spare' };
    const last = (...events: RunEvent[]) =>
      events.flatMap(createPlainRender({ folder: '/w', now: () => 0 })).at(-1)!.text;
    expect(last(standIn, end)).toMatch(/ · answered by The Spare\n$/);
    expect(last(end)).not.toContain('answered');
    expect(last(standIn, { ...end, outcome: 'failed', error: failure })).not.toContain('answered');
    const retry: RunEvent = { type: 'retry', attempt: 2, delayMs: 1, reason: 'r', error: failure };
    expect(last(standIn, retry, end)).not.toContain('answered');
  });

  it('[product-escapes] lets no control of model, tool or server through to the terminal', () => {
    const evil = '\x1b]52;c;eA==\x07\x1b[2J\x9b1A\u202e';
    const events: RunEvent[] = [
      { type: 'text', text: `t${evil}` },
      { type: 'notice', text: `n${evil}` },
      { type: 'retry', attempt: 2, delayMs: 1000, reason: `r${evil}`, error: failure },
      call('shell', 'failed', {
        args: { command: `c${evil}` },
        result: { failure: { stdout: `o${evil}`, exitCode: 1 } },
      }),
      call(`x${evil}`, 'failed', { result: { error: { error: `e${evil}` } } }),
      {
        ...end,
        outcome: 'failed',
        error: { code: 'internal', title: `a${evil}`, message: `b${evil}`, retryable: false },
      },
    ];
    for (const to of ['stdout', 'stderr'] as const)
      expect(shown(events, to)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  });

  it('[product-final-line] closes with time and tokens on stderr', () => {
    const usage = { inputTokens: 12_345, outputTokens: 67, cacheReadTokens: 1_000 };
    expect(shown([{ ...end, usage }], 'stderr')).toBe('Done in 0.5 s · 13,345 tokens in (1,000 cached), 67 out\n');
    expect(shown([end], 'stderr')).toBe('Done in 0.5 s\n');
    expect(shown([{ ...end, outcome: 'cancelled' }], 'stderr')).toBe('Cancelled after 0.5 s\n');
    const error = {
      code: 'unavailable',
      title: 'Connection failed',
      message: 'nobody listens there',
      retryable: true,
    } as const;
    expect(shown([{ ...end, outcome: 'failed', error }], 'stderr')).toBe(
      '✗ Connection failed: nobody listens there (0.5 s)\n',
    );
  });

  it('[product-retry-hint] says once how to stop trying, and how to go on later where something was kept', () => {
    const retry = { type: 'retry', attempt: 2, delayMs: 1000, reason: 'Cut: it broke', error: failure } as const;
    expect(shown([retry, retry], 'stderr')).toBe(
      'Cut: it broke. Trying again in 1.0 s. Ctrl-C stops.\nCut: it broke. Trying again in 1.0 s.\n',
    );
    const checkpoint = { type: 'checkpoint', turns: 1, pendingToolCalls: 0 } as const;
    expect(shown([checkpoint, { ...retry, reason: 'It broke.' }], 'stderr')).toBe(
      'It broke. Trying again in 1.0 s. Ctrl-C stops, and --continue goes on later.\n',
    );
  });

  it('hides what the model thinks, and skips events that it does not know', () => {
    expect(
      shown([{ type: 'thinking', text: 'hm' }, { type: 'later' } as never, { type: 'text', text: 'a' }, end]),
    ).toBe('a\n');
  });

  it('has no colour at all', () => {
    expect(
      shown([call('shell', 'failed', { args: { command: 'x' }, result: { failure: { exitCode: 1 } } }), end]),
    ).not.toContain('\x1b');
  });
});

describe('the text output on a terminal', () => {
  it('dims what the model thinks', () => {
    expect(shown([{ type: 'thinking', text: 'let me\nsee' }, { type: 'text', text: 'ok' }, end], 'stdout', true)).toBe(
      '\x1b[2mlet me\x1b[22m\n\x1b[2msee\x1b[22m\nok\n',
    );
  });

  it('[product-colour] wants no colours with NO_COLOR or on a dumb terminal', () => {
    expect([wantsColours({}), wantsColours({ NO_COLOR: '1' }), wantsColours({ TERM: 'dumb' })]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('reads and searches in a row on a terminal', () => {
  const look = (at: number, status: 'completed' | 'failed' = 'completed'): RunEvent => ({
    type: 'tool',
    id: `look-${at}`,
    name: 'read',
    status,
    args: { path: `/w/${at}` },
    ...(status === 'failed' && { result: { error: { errorMessage: 'gone' } } }),
  });
  const looks = Array.from({ length: 8 }, (_, at) => look(at));
  const plain = (events: RunEvent[]) => shown(events, 'stdout', true).replace(/\x1b\[\d+m/g, '');

  it('[product-tool-lines] fold after the fifth, until something else comes', () => {
    expect(plain([...looks, { type: 'text', text: 'Well.' }, look(9), end])).toBe(
      '● Read 0\n● Read 1\n● Read 2\n● Read 3\n● Read 4\n  … and 3 more of the kind\nWell.\n● Read 9\n',
    );
    expect(plain([...looks, call('shell', 'running', { args: { command: 'ls' } })])).toMatch(
      /… and 3 more of the kind\n● Run ls\n$/,
    );
  });

  it('show a failure by its name all the same', () => {
    expect(plain([...looks, look(8, 'failed'), end])).toMatch(
      /● Read 4\n {2}✗ Read 8: gone\n {2}… and 4 more of the kind\n$/,
    );
  });

  it('get a line each where nobody looks on', () => {
    expect(shown([...looks, end]).match(/● Read/g)).toHaveLength(8);
  });
});
