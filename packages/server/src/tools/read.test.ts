import { describe, expect, it } from 'vitest';
import { openCard, runTool, scriptedCall } from '../../test/tools/scripted-exec.ts';
import type { Script } from '../../test/tools/scripted-exec.ts';
import { READ_CHARACTERS } from './limits.ts';
import { readTool } from './read.ts';
import { ExecFailure } from './tool.ts';
import type { ToolFacts } from './tool.ts';

type Success = {
  content?: string;
  data?: Uint8Array;
  totalLines?: number;
  truncated?: boolean;
  rangeApplied?: boolean;
};

function file({ content, data, ...rest }: Success): Script['read'] {
  const output = data ? { case: 'data' as const, value: data } : { case: 'content' as const, value: content ?? '' };
  return {
    case: 'success',
    value: { path: '/ws/a.txt', fileSize: 10n, totalLines: (content ?? '').split('\n').length, output, ...rest },
  };
}

const read = async (
  args: { path: string; offset?: number; limit?: number },
  script: Script['read'],
  facts: Partial<ToolFacts> = {},
) => {
  const call = scriptedCall({ read: script! }, facts);
  return { ...(await runTool(readTool, args, call)), calls: call.calls };
};

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

describe('Read', () => {
  it('asks for the absolute path under the tool call id and numbers the lines', async () => {
    const { calls, text, result, isError } = await read({ path: 'a.txt' }, file({ content: 'hi file\nsecond line\n' }));
    expect(calls).toEqual([{ kind: 'read', args: { path: '/ws/a.txt', toolCallId: 'call-1' } }]);
    expect(text).toBe('1|hi file\n2|second line');
    expect(isError).toBe(false);
    expect(result.case).toBe('success');
    expect(result.value.output).toEqual({ case: 'content', value: 'hi file\nsecond line\n' });
    expect(result.value).toMatchObject({
      path: '/ws/a.txt',
      totalLines: 3,
      fileSize: 10,
      isEmpty: false,
      exceededLimit: false,
    });
  });

  it('leaves absolute paths, and relative ones without a workspace, as they are', async () => {
    expect((await read({ path: '/etc/hosts' }, file({}))).calls[0]?.args.path).toBe('/etc/hosts');
    expect((await read({ path: 'a.txt' }, file({}), { workspacePaths: [] })).calls[0]?.args.path).toBe('a.txt');
    expect((await read({ path: 'src\\a.ts' }, file({}), { workspacePaths: ['C:\\ws'] })).calls[0]?.args.path).toBe(
      'C:\\ws\\src\\a.ts',
    );
  });

  it('numbers a range from its offset and names the span', async () => {
    const { calls, text, result } = await read(
      { path: 'a.txt', offset: 10, limit: 2 },
      file({ content: 'ten\neleven', totalLines: 100, rangeApplied: true }),
    );
    expect(calls[0]?.args).toMatchObject({ offset: 10, limit: 2 });
    expect(text).toBe('10|ten\n11|eleven\n(Lines 10 to 11 of 100.)');
    expect(result.value.readRange).toMatchObject({ startLine: 10, endLine: 11 });
  });

  it('keeps an empty line that a range ends with', async () => {
    const { text } = await read(
      { path: 'a', offset: 1, limit: 2 },
      file({ content: 'a\n', totalLines: 9, rangeApplied: true }),
    );
    expect(text).toBe('1|a\n2|\n(Lines 1 to 2 of 9.)');
  });

  it('numbers a read from the end by the lines of the file', async () => {
    const script = file({ content: 'd\ne\n', totalLines: 6, rangeApplied: true });
    const { calls, text } = await read({ path: 'a', offset: -2 }, script);
    expect(calls[0]?.args).toMatchObject({ offset: -2 });
    expect(text).toBe('4|d\n5|e\n(Lines 4 to 5 of 6.)');
    const limited = await read({ path: 'a', offset: -2, limit: 1 }, script);
    expect(limited.calls[0]?.args.limit).toBeUndefined();
    expect(limited.text).toContain('4|d\n(Lines 4 to 4');
  });

  it('cuts the range itself when the client sent the whole file', async () => {
    const { text } = await read({ path: 'a', offset: 2, limit: 1 }, file({ content: 'a\nb\nc\n' }));
    expect(text).toBe('2|b');
  });

  it('says that an offset is past the end', async () => {
    const { text, isError, result } = await read({ path: 'a.txt', offset: 50 }, file({ content: 'a\nb\n' }));
    expect(text).toBe('/ws/a.txt has 3 lines; there is no line 50.');
    expect(isError).toBe(true);
    expect(result.case).toBe('error');
  });

  it('says that a file is empty', async () => {
    const { text, result, isError } = await read({ path: 'a.txt' }, file({ content: '' }));
    expect(text).toBe('/ws/a.txt is empty.');
    expect(result.value.isEmpty).toBe(true);
    expect(isError).toBe(false);
  });

  it('names the total and where to read on when the client cut the file', async () => {
    const { text, result } = await read(
      { path: 'a.txt' },
      file({ content: 'a\nb', totalLines: 9000, truncated: true }),
    );
    expect(text).toBe('1|a\n2|b\n(The client sent lines 1 to 2 only; the file has 9000 lines. Read on with offset 3.)');
    expect(result.value.exceededLimit).toBe(true);
  });

  it('shows head and tail of a very long file with the lines left out, and the card keeps all', async () => {
    const content = Array.from({ length: 20_000 }, (_, at) => `row ${at + 1} of plain text`).join('\n');
    const { text, result } = await read({ path: 'a.txt' }, file({ content }));
    expect(text.length).toBeLessThan(READ_CHARACTERS * 1.1);
    expect(text).toMatch(/^1\|row 1 of plain text\n/);
    expect(text).toMatch(/\n20000\|row 20000 of plain text$/);
    const [, from, to, characters] =
      /… lines (\d+) to (\d+) left out \((\d+) characters\); read them with offset (\d+) …/.exec(text) ?? [];
    const left = content.split('\n').slice(Number(from) - 1, Number(to));
    expect(Number(characters)).toBe(left.join('\n').length + 1);
    expect(result.value.output.value).toBe(content);
  });

  it('cuts one very long line', async () => {
    const { text } = await read({ path: 'a.txt' }, file({ content: 'x'.repeat(5000) }));
    expect(text).toBe(`1|${'x'.repeat(2000)}… (line of 5000 characters)`);
  });

  it('shows an image to a model that takes images', async () => {
    const { content, result } = await read({ path: 'a.png' }, file({ data: PNG }), { vision: true });
    expect(content).toEqual([
      { type: 'text', text: '/ws/a.txt (image/png, 8 bytes)' },
      { type: 'image', image: `data:image/png;base64,${Buffer.from(PNG).toString('base64')}`, mediaType: 'image/png' },
    ]);
    expect(result.value.output).toEqual({ case: 'data', value: PNG });
  });

  it('describes an image to a model that takes none', async () => {
    const { text, isError } = await read({ path: 'a.png' }, file({ data: PNG }));
    expect(text).toBe('/ws/a.txt is an image (image/png, 8 bytes). This model takes no images.');
    expect(isError).toBe(false);
  });

  it('says of other bytes what they are', async () => {
    expect((await read({ path: 'a' }, file({ data: Buffer.from('%PDF-1.7 …') }))).text).toMatch(
      /is a PDF of \d+ bytes/,
    );
    expect((await read({ path: 'a' }, file({ data: new Uint8Array([1, 2]) }))).text).toMatch(/binary data of 2 bytes/);
    const large = new Uint8Array(6 * 1024 * 1024);
    large.set(PNG);
    expect((await read({ path: 'a' }, file({ data: large }), { vision: true })).text).toMatch(/above the limit/);
  });

  it.each<[NonNullable<Script['read']>, RegExp]>([
    [{ case: 'fileNotFound', value: { path: '/ws/a.txt' } }, /^File not found: \/ws\/a\.txt$/],
    [{ case: 'permissionDenied', value: { path: '/ws/a.txt' } }, /^Permission denied/],
    [
      { case: 'invalidFile', value: { path: '/ws/a.txt', reason: 'Path is a directory, not a file' } },
      /is a directory/,
    ],
    [{ case: 'rejected', value: { path: '/ws/a.txt', reason: 'secrets' } }, /did not allow .* secrets$/],
    [{ case: 'error', value: { path: '/ws/a.txt', error: 'EIO' } }, /failed: EIO$/],
  ])('turns the failure %o into an error', async (answer, words) => {
    const { text, isError, result } = await read({ path: 'a.txt' }, answer);
    expect(isError).toBe(true);
    expect(text).toMatch(words);
    expect(result).toMatchObject({ case: 'error', value: { errorMessage: text } });
  });

  it.each([
    ['unavailable', 'No handler found', /^Read is not available in this client: No handler found$/],
    ['thrown', 'Error: handler crashed', /^handler crashed$/],
    ['closed', 'The client closed the call without a result.', /closed the call without/],
    ['mismatch', 'unexpected result', /unexpected/],
  ] as const)('an exec that is %s closes the card with an error', async (reason, message, words) => {
    const { text, isError, result } = await read({ path: 'a.txt' }, new ExecFailure(reason, message));
    expect(isError).toBe(true);
    expect(text).toMatch(words);
    expect(result.case).toBe('error');
  });

  it('opens a card without arguments, and closes it with an error', () => {
    const { context } = scriptedCall({});
    expect(openCard(readTool.open({}, context), 'readToolCall').args.path).toBe('');
    expect(openCard(readTool.close({ path: 'a' }, 'cut off', context), 'readToolCall').result.result).toMatchObject({
      case: 'error',
      value: { errorMessage: 'cut off' },
    });
  });

  it('lets a fault of ours through', async () => {
    const call = scriptedCall({
      read: () => {
        throw new TypeError('bug');
      },
    });
    await expect(readTool.execute({ path: 'a' }, call.context)).rejects.toThrow(TypeError);
  });
});
