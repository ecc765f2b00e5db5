import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCard, runTool, scriptedCall } from '../../test/tools/scripted-exec.ts';
import type { Script } from '../../test/tools/scripted-exec.ts';
import { deleteTool } from './delete.ts';
import { strReplaceTool } from './str-replace.ts';
import { ExecFailure } from './tool.ts';
import { writeTool } from './write.ts';

/** A client with files in memory. */
function disk(files: Record<string, string>): Script {
  return {
    read: ({ path }) => {
      const text = files[posix.normalize(path)];
      if (text === undefined) return { case: 'fileNotFound', value: { path } };
      return { case: 'success', value: { path, output: { case: 'content', value: text } } };
    },
    write: ({ path, fileText }) => {
      files[posix.normalize(path)] = fileText;
      return { case: 'success', value: { path } };
    },
    delete: ({ path }) => {
      delete files[path];
      return { case: 'success', value: { path, deletedFile: path } };
    },
  };
}

describe('Write', () => {
  it('makes a new file by a hidden read and a hidden write under one tool call id', async () => {
    const files: Record<string, string> = {};
    const call = scriptedCall(disk(files));
    const { result, args, text, isError } = await runTool(
      writeTool,
      { path: 'made/new.txt', contents: 'potato\nsalad\n' },
      call,
    );
    expect(call.calls).toEqual([
      { kind: 'read', args: { path: '/ws/made/new.txt', toolCallId: 'call-1' } },
      { kind: 'write', args: { path: '/ws/made/new.txt', fileText: 'potato\nsalad\n', toolCallId: 'call-1' } },
    ]);
    expect(args).toMatchObject({ path: '/ws/made/new.txt', streamContent: 'potato\nsalad\n' });
    expect(result.case).toBe('success');
    expect(result.value).toMatchObject({ linesAdded: 2, linesRemoved: 0, afterFullFileContent: 'potato\nsalad\n' });
    expect(result.value.beforeFullFileContent).toBeUndefined();
    expect(result.value.diffString).toContain('+potato\n+salad\n');
    expect(text).toBe('Made the new file made/new.txt (+2 −0 lines)');
    expect(isError).toBe(false);
  });

  it('sends LF without byte order mark whatever the model wrote', async () => {
    const call = scriptedCall(disk({}));
    await runTool(writeTool, { path: 'a', contents: '\ufeffone\r\ntwo\r\n' }, call);
    expect(call.calls[1]?.args.fileText).toBe('one\ntwo\n');
  });

  it('takes a read error that says so for a missing file, and no other (R31)', async () => {
    const files: Record<string, string> = {};
    const saying = (error: string): Script => ({
      ...disk(files),
      read: ({ path }) => ({ case: 'error', value: { path, error } }),
    });
    const made = await runTool(
      writeTool,
      { path: 'a', contents: 'x' },
      scriptedCall(saying("ENOENT: no such file or directory, open 'a'")),
    );
    expect([made.isError, files]).toEqual([false, { '/ws/a': 'x' }]);
    const refused = await runTool(
      writeTool,
      { path: 'b', contents: 'x' },
      scriptedCall(saying('EIO: input/output error')),
    );
    expect([refused.isError, Object.keys(files)]).toEqual([true, ['/ws/a']]);
  });

  it('writes an empty new file', async () => {
    const files: Record<string, string> = {};
    await runTool(writeTool, { path: 'a', contents: '' }, scriptedCall(disk(files)));
    expect(files).toEqual({ '/ws/a': '' });
  });

  it('does not write what is there already', async () => {
    const call = scriptedCall(disk({ '/ws/a': 'same\n' }));
    const { text, result } = await runTool(writeTool, { path: 'a', contents: 'same\n' }, call);
    expect(call.calls.map(one => one.kind)).toEqual(['read']);
    expect(text).toMatch(/nothing changed/);
    expect(result.value).toMatchObject({ linesAdded: 0, linesRemoved: 0 });
  });

  it.each<[Script['write'], string, RegExp]>([
    [
      { case: 'permissionDenied', value: { path: 'a', error: 'EACCES', isReadonly: true } },
      'writePermissionDenied',
      /read-only\. EACCES$/,
    ],
    [{ case: 'noSpace', value: { path: 'a' } }, 'error', /^No space left/],
    [{ case: 'error', value: { path: 'a', error: 'EISDIR' } }, 'error', /failed: EISDIR/],
    [{ case: 'rejected', value: { path: 'a', reason: 'no' } }, 'rejected', /did not allow/],
    [new ExecFailure('expired', 'The client did not answer in time.'), 'error', /in time/],
  ])('turns the failed write %o into %s', async (write, branch, words) => {
    const { result, text, isError } = await runTool(
      writeTool,
      { path: 'a', contents: 'x' },
      scriptedCall({ ...disk({}), write: write! }),
    );
    expect(result.case).toBe(branch);
    expect(text).toMatch(words);
    expect(isError).toBe(true);
  });
});

describe('StrReplace', () => {
  const replace = async (before: string, args: { old_string: string; new_string: string; replace_all?: boolean }) => {
    const files: Record<string, string> = { '/ws/a.txt': before };
    const call = scriptedCall(disk(files));
    const outcome = await runTool(strReplaceTool, { path: 'a.txt', ...args }, call);
    return { ...outcome, after: files['/ws/a.txt'], calls: call.calls };
  };

  it('replaces one text and says how many lines changed', async () => {
    const { after, result, text } = await replace('hi file\nsecond line\n', {
      old_string: 'second',
      new_string: '2nd',
    });
    expect(after).toBe('hi file\n2nd line\n');
    expect(result.value).toMatchObject({
      beforeFullFileContent: 'hi file\nsecond line\n',
      afterFullFileContent: 'hi file\n2nd line\n',
      linesAdded: 1,
      linesRemoved: 1,
    });
    expect(result.value.diffString).toBe(
      '--- a/ws/a.txt\n+++ b/ws/a.txt\n@@ -1,2 +1,2 @@\n hi file\n-second line\n+2nd line\n',
    );
    expect(text).toBe('Replaced once in a.txt (+1 −1 lines)');
  });

  it('takes $ signs as they are', async () => {
    expect((await replace('a', { old_string: 'a', new_string: "$& $1 $'" })).after).toBe("$& $1 $'");
  });

  it('normalises CRLF of the model and of the file', async () => {
    const { after } = await replace('one\r\ntwo\r\nthree\r\n', {
      old_string: 'two\r\nthree',
      new_string: 'zwei\r\ndrei',
    });
    expect(after).toBe('one\nzwei\ndrei\n');
  });

  it('refuses a text that occurs twice, naming the lines', async () => {
    const { text, calls, result, isError } = await replace('same\nx\nsame\n', { old_string: 'same', new_string: 'y' });
    expect(text).toMatch(/occurs 2 times in a\.txt \(lines 1, 3\)/);
    expect(calls.map(call => call.kind)).toEqual(['read']);
    expect(result.case).toBe('error');
    expect(isError).toBe(true);
  });

  it('replaces all when asked to', async () => {
    const { after, text } = await replace('same\nsame\n', { old_string: 'same', new_string: 'x', replace_all: true });
    expect(after).toBe('x\nx\n');
    expect(text).toBe('Replaced 2 times in a.txt (+2 −2 lines)');
  });

  it.each([
    ['const total = 1;', 'const totel = 1;', /The nearest line is 2: const total = 1;/],
    ['\tindented();', '    indented();', /Line 2 has the text of its first line/],
    ['plain', '2|plain', /begins with line numbers/],
    ['plain', 'nothing like it at all', /nothing was changed\.$/],
  ])('helps when %j is there and %j was sought', async (line, sought, words) => {
    const { text } = await replace(`first\n${line}\n`, { old_string: sought, new_string: 'x' });
    expect(text).toMatch(/^old_string was not found in a\.txt/);
    expect(text).toMatch(words);
  });

  it('refuses equal texts without asking the client', async () => {
    const { calls, text, result } = await replace('a', { old_string: 'a\r\n', new_string: 'a\n' });
    expect(calls).toEqual([]);
    expect(text).toMatch(/the same text/);
    expect(result.case).toBe('error');
  });

  it('refuses an empty old_string in a file with text, and fills an empty file', async () => {
    expect((await replace('a', { old_string: '', new_string: 'b' })).text).toMatch(/old_string is empty/);
    expect((await replace('', { old_string: '', new_string: 'b' })).after).toBe('b');
  });

  it('says file_not_found for a file that is not there', async () => {
    const call = scriptedCall(disk({}));
    const { result, text } = await runTool(strReplaceTool, { path: 'gone', old_string: 'a', new_string: 'b' }, call);
    expect(result).toMatchObject({ case: 'fileNotFound', value: { path: '/ws/gone' } });
    expect(text).toMatch(/^File not found/);
    expect(call.calls.map(one => one.kind)).toEqual(['read']);
  });

  it.each<[NonNullable<Script['read']>, string, RegExp]>([
    [
      { case: 'success', value: { path: 'a', truncated: true, output: { case: 'content', value: 'hi' } } },
      'error',
      /too large/,
    ],
    [
      { case: 'success', value: { path: 'a', output: { case: 'data', value: new Uint8Array([1]) } } },
      'error',
      /binary/,
    ],
    [{ case: 'invalidFile', value: { path: 'a', reason: 'Binary files of type .dat' } }, 'error', /Binary files/],
    [{ case: 'permissionDenied', value: { path: 'a' } }, 'readPermissionDenied', /Permission denied/],
    [{ case: 'rejected', value: { path: 'a', reason: 'no' } }, 'rejected', /did not allow/],
    [{ case: 'error', value: { path: 'a', error: 'EIO' } }, 'error', /EIO/],
  ])('does not write after the read %o', async (read, branch, words) => {
    const call = scriptedCall({ ...disk({}), read });
    const { result, text, isError } = await runTool(
      strReplaceTool,
      { path: 'a', old_string: 'hi', new_string: 'ho' },
      call,
    );
    expect(call.calls.map(one => one.kind)).toEqual(['read']);
    expect(result.case).toBe(branch);
    expect(text).toMatch(words);
    expect(isError).toBe(true);
  });

  it('does two edits of one file in a round one after the other', async () => {
    const files: Record<string, string> = { '/ws/a': 'one two' };
    const call = scriptedCall(disk(files));
    const edits = [
      { path: 'a', old_string: 'one', new_string: '1' },
      { path: '/ws/./b/../a', old_string: 'two', new_string: '2' },
    ].map(args => runTool(strReplaceTool, args, call));
    await Promise.all([...edits, runTool(writeTool, { path: 'b', contents: 'b' }, call)]);
    expect(files).toEqual({ '/ws/a': '1 2', '/ws/b': 'b' });
  });

  it('goes on with the next edit of a file when one broke', async () => {
    const files: Record<string, string> = { '/ws/a': 'one' };
    const script = disk(files);
    let first = true;
    const call = scriptedCall({
      ...script,
      read: args => {
        if (!first) return (script.read as (args: unknown) => any)(args);
        first = false;
        return new ExecFailure('thrown', 'it broke');
      },
    });
    const [broken, fine] = await Promise.all([
      runTool(strReplaceTool, { path: 'a', old_string: 'one', new_string: '1' }, call),
      runTool(strReplaceTool, { path: 'a', old_string: 'one', new_string: '2' }, call),
    ]);
    expect([broken.text, fine.isError, files['/ws/a']]).toEqual(['it broke', false, '2']);
  });

  it('counts lines of texts that have nothing in common', async () => {
    const before = Array.from({ length: 3000 }, (_, at) => `old ${at}`).join('\n');
    const after = Array.from({ length: 3000 }, (_, at) => `new ${at}`).join('\n');
    const { result } = await replace(before, { old_string: before, new_string: after });
    expect(result.value).toMatchObject({ linesAdded: 3000, linesRemoved: 3000 });
  });

  it('opens and closes a card of kind edit', () => {
    const { context } = scriptedCall({});
    const closed = openCard(strReplaceTool.close({ path: 'a', new_string: 'b' }, 'cut off', context), 'editToolCall');
    expect(closed.args).toMatchObject({ path: '/ws/a', streamContent: 'b' });
    expect(closed.result.result).toMatchObject({ case: 'error', value: { path: '/ws/a', error: 'cut off' } });
    expect(openCard(writeTool.open({}, context), 'editToolCall').result).toBeUndefined();
  });
});

describe('Delete', () => {
  it('deletes by exec and keeps the result on the card', async () => {
    const files: Record<string, string> = { '/ws/a.txt': 'x' };
    const call = scriptedCall(disk(files));
    const { text, result } = await runTool(deleteTool, { path: 'a.txt' }, call);
    expect(call.calls).toEqual([{ kind: 'delete', args: { path: '/ws/a.txt', toolCallId: 'call-1' } }]);
    expect(text).toBe('Deleted /ws/a.txt.');
    expect(result).toMatchObject({ case: 'success', value: { deletedFile: '/ws/a.txt' } });
    expect(files).toEqual({});
  });

  it.each<[NonNullable<Script['delete']>, RegExp]>([
    [{ case: 'fileNotFound', value: { path: 'a' } }, /^File not found/],
    [{ case: 'notFile', value: { path: 'a', actualType: 'directory' } }, /a directory/],
    [{ case: 'permissionDenied', value: { path: 'a', clientVisibleError: 'EPERM' } }, /Permission denied.*EPERM/],
    [{ case: 'fileBusy', value: { path: 'a' } }, /in use/],
    [{ case: 'rejected', value: { path: 'a', reason: 'keep it' } }, /did not allow.*keep it/],
    [{ case: 'error', value: { path: 'a', error: 'EIO' } }, /EIO/],
  ])('turns the failure %o into an error', async (answer, words) => {
    const { text, isError, result } = await runTool(deleteTool, { path: 'a' }, scriptedCall({ delete: answer }));
    expect(text).toMatch(words);
    expect(isError).toBe(true);
    expect(result.case).toBe((answer as { case: string }).case);
  });

  it('closes with an error when the client cannot delete', async () => {
    const { text, result } = await runTool(deleteTool, { path: 'a' }, scriptedCall({}));
    expect(text).toMatch(/^Delete is not available/);
    expect(result.case).toBe('error');
  });
});
