import { describe, expect, it } from 'vitest';
import { openCard, runTool, scriptedCall } from '../../test/tools/scripted-exec.ts';
import type { Script } from '../../test/tools/scripted-exec.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { GLOB_FILES, GREP_HEAD_LIMIT } from './limits.ts';
import { lsTool } from './ls.ts';
import { ExecFailure } from './tool.ts';

type Results = Record<string, object>;
const found = (workspaceResults: Results, pattern = 'needle'): Script['grep'] =>
  ({ case: 'success', value: { pattern, path: '/ws', workspaceResults } }) as Script['grep'];
const files = (names: string[], more: object = {}) => ({
  result: { case: 'files', value: { files: names, totalFiles: names.length, ...more } },
});
const content = (byFile: Record<string, [number, string, boolean?][]>, more: object = {}) => ({
  result: {
    case: 'content',
    value: {
      totalMatchedLines: Object.values(byFile)
        .flat()
        .filter(([, , context]) => !context).length,
      matches: Object.entries(byFile).map(([file, lines]) => ({
        file,
        matches: lines.map(([lineNumber, text, isContextLine = false]) => ({
          lineNumber,
          content: text,
          isContextLine,
        })),
      })),
      ...more,
    },
  },
});

describe('Glob', () => {
  const glob = async (args: { glob_pattern: string; target_directory?: string }, script: Script['grep']) => {
    const call = scriptedCall({ grep: script! });
    return { ...(await runTool(globTool, args, call)), sent: call.calls[0]?.args };
  };

  it('is a grep with an empty pattern, and puts **/ in front', async () => {
    const { sent, text, args, result } = await glob(
      { glob_pattern: '*.ts' },
      found({ '/ws': files(['./src/x.ts', './y.ts']) }, ''),
    );
    expect(sent).toEqual({ pattern: '', glob: '**/*.ts', outputMode: 'files_with_matches', toolCallId: 'call-1' });
    expect(text).toBe('2 files:\nsrc/x.ts\ny.ts');
    expect(args.globPattern).toBe('*.ts');
    expect(result).toMatchObject({
      case: 'success',
      value: { files: ['src/x.ts', 'y.ts'], totalFiles: 2, clientTruncated: false },
    });
  });

  it.each([
    ['src/**/*.ts', undefined, '**/src/**/*.ts', undefined],
    ['**/*.ts', undefined, '**/*.ts', undefined],
    ['./a.ts', 'src', '**/a.ts', '/ws/src'],
    ['/ws/src/**/*.ts', undefined, '**/*.ts', '/ws/src'],
    ['/ws/a.ts', undefined, '**/a.ts', '/ws'],
  ])('sends %s in %s as %s in %s', async (pattern, directory, sentGlob, sentPath) => {
    const { sent } = await glob(
      { glob_pattern: pattern, ...(directory ? { target_directory: directory } : {}) },
      found({}),
    );
    expect([sent.glob, sent.path]).toEqual([sentGlob, sentPath]);
  });

  it('joins workspaces and names the folder of each file', async () => {
    const { text } = await glob({ glob_pattern: '*' }, found({ '/one': files(['./a']), '/two': files(['./a']) }));
    expect(text).toBe('2 files:\n/one/a\n/two/a');
  });

  it('says at least when the client cut its answer, and shows no more than a bound', async () => {
    const names = Array.from({ length: GLOB_FILES + 5 }, (_, at) => `./f${at}`);
    const { text, result } = await glob(
      { glob_pattern: '*' },
      found({ '/ws': files(names, { clientTruncated: true }) }),
    );
    expect(text.split('\n')[0]).toBe(`At least ${names.length} files, the first ${GLOB_FILES} of them:`);
    expect(text.split('\n')).toHaveLength(GLOB_FILES + 1);
    expect(result.value.files).toHaveLength(names.length);
    expect(result.value.clientTruncated).toBe(true);
  });

  it('says that nothing matches', async () => {
    expect((await glob({ glob_pattern: '*.zig' }, found({ '/ws': files([]) }))).text).toBe('No files match *.zig.');
    expect((await glob({ glob_pattern: '*.zig' }, found({}))).isError).toBe(false);
  });

  it('turns an error into an error', async () => {
    const { text, result, isError } = await glob(
      { glob_pattern: '[' },
      { case: 'error', value: { error: 'bad glob' } },
    );
    expect([text, isError, result.case]).toEqual(['The search for [ failed: bad glob', true, 'error']);
    const gone = await glob({ glob_pattern: '*' }, new ExecFailure('closed', 'closed without a result'));
    expect(gone.result).toMatchObject({ case: 'error', value: { error: 'closed without a result' } });
  });
});

describe('Grep', () => {
  const grep = async (args: Parameters<typeof grepTool.execute>[0], script: Script['grep']) => {
    const call = scriptedCall({ grep: script! });
    return { ...(await runTool(grepTool, args, call)), sent: call.calls[0]?.args };
  };
  const twenty = content({ './n.txt': Array.from({ length: 20 }, (_, at) => [at + 1, `needle ${at + 1};`]) });

  it('sends every option but head_limit and offset, which stay with the server', async () => {
    const { sent, args } = await grep(
      {
        pattern: 'a|b',
        path: 'src',
        glob: '*.ts',
        type: 'ts',
        output_mode: 'content',
        '-A': 1,
        '-B': 2,
        '-C': 3,
        '-i': true,
        multiline: true,
        head_limit: 4,
        offset: 5,
      },
      found({}),
    );
    expect(sent).toEqual({
      pattern: 'a|b',
      path: '/ws/src',
      glob: '*.ts',
      type: 'ts',
      outputMode: 'content',
      contextAfter: 1,
      contextBefore: 2,
      context: 3,
      caseInsensitive: true,
      multiline: true,
      toolCallId: 'call-1',
    });
    expect(args).toMatchObject({ pattern: 'a|b', headLimit: 4, offset: 5 });
  });

  it('prints lines under their file and keeps the whole answer on the card', async () => {
    const { text, result } = await grep(
      { pattern: 'needle' },
      found({ '/ws': content({ './a': [[3, 'needle\n']], './b/c': [[1, 'x needle']] }) }),
    );
    expect(text).toBe('Found 2 matching lines in 2 files.\na\n3:needle\nb/c\n1:x needle');
    expect(result.value.workspaceResults['/ws'].result.value.matches).toHaveLength(2);
  });

  it('marks context lines and gaps', async () => {
    const lines: [number, string, boolean?][] = [
      [1, 'before', true],
      [2, 'needle'],
      [7, 'needle'],
    ];
    const { text } = await grep({ pattern: 'needle', '-B': 1 }, found({ '/ws': content({ './a': lines }) }));
    expect(text).toBe('Found 2 matching lines in 1 file.\na\n1-before\n2:needle\n--\n7:needle');
  });

  it('applies head_limit and offset itself', async () => {
    const first = await grep({ pattern: 'needle', head_limit: 3 }, found({ '/ws': twenty }));
    expect(first.text).toBe(
      'Found 20 matching lines in 1 file. Showing 1 to 3 of 20.\nn.txt\n1:needle 1;\n2:needle 2;\n3:needle 3;\n(Read on with offset 3.)',
    );
    const last = await grep({ pattern: 'needle', head_limit: 3, offset: 18 }, found({ '/ws': twenty }));
    expect(last.text).toBe(
      'Found 20 matching lines in 1 file. Showing 19 to 20 of 20.\nn.txt\n19:needle 19;\n20:needle 20;',
    );
    expect((await grep({ pattern: 'needle', offset: 20 }, found({ '/ws': twenty }))).text).toMatch(
      /^Nothing from offset 20 on/,
    );
  });

  it('says at least when the client cut its answer', async () => {
    const cut = content({ './a': [[1, 'needle']] }, { totalMatchedLines: 2000, clientTruncated: true });
    expect((await grep({ pattern: 'needle' }, found({ '/ws': cut }))).text).toMatch(
      /^Found at least 2000 matching lines/,
    );
  });

  it('has a limit of its own when the model names none', async () => {
    const many = files(Array.from({ length: GREP_HEAD_LIMIT + 1 }, (_, at) => `./f${at}`));
    const { text } = await grep({ pattern: 'x', output_mode: 'files_with_matches' }, found({ '/ws': many }));
    expect(text).toMatch(new RegExp(`^Found 251 files. Showing 1 to ${GREP_HEAD_LIMIT} of 251.\nf0\n`));
  });

  it('prints counts', async () => {
    const count = {
      result: { case: 'count', value: { counts: [{ file: './a', count: 2 }], totalFiles: 1, totalMatches: 2 } },
    };
    expect((await grep({ pattern: 'x', output_mode: 'count' }, found({ '/ws': count }))).text).toBe(
      'Found 2 matches in 1 file.\na:2',
    );
  });

  it('says that nothing matches, also when the client chose no branch', async () => {
    const { text, isError } = await grep({ pattern: 'needle' }, found({ '/ws': {} }));
    expect([text, isError]).toEqual(['No matches for needle.', false]);
  });

  it('joins workspaces', async () => {
    const { text } = await grep(
      { pattern: 'needle' },
      found({ '/one': twenty, '/two': content({ './z': [[1, 'needle']] }) }),
    );
    expect(text).toMatch(/^Found 21 matching lines in 2 files\.\n\/one\/n\.txt\n[\s\S]*\/two\/z\n1:needle$/);
  });

  it('turns an error into an error', async () => {
    const { text, isError, result } = await grep(
      { pattern: '(' },
      { case: 'error', value: { error: 'unclosed group' } },
    );
    expect([text, isError, result.case]).toEqual(['The search for ( failed: unclosed group', true, 'error']);
    const gone = await grep({ pattern: 'x' }, new ExecFailure('unset', 'a malformed result'));
    expect(gone.result).toMatchObject({ case: 'error', value: { error: 'a malformed result' } });
  });
});

describe('Ls', () => {
  const tree = {
    absPath: '/ws',
    childrenWereProcessed: true,
    childrenDirs: [
      {
        absPath: '/ws/src',
        childrenWereProcessed: true,
        childrenFiles: [{ name: 'm.ts' }],
        childrenDirs: [{ absPath: '/ws/src/deep', numFiles: 7 }],
      },
      { absPath: '/ws/empty', childrenWereProcessed: true },
    ],
    childrenFiles: [{ name: 'left.txt' }],
  };
  const ls = async (script: Script['ls'], ignore?: string[]) => {
    const call = scriptedCall({ ls: script! });
    return {
      ...(await runTool(lsTool, { path: '.', ...(ignore ? { ignore } : {}) }, call)),
      sent: call.calls[0]?.args,
    };
  };

  it('prints the tree indented', async () => {
    const { sent, text, result } = await ls({ case: 'success', value: { directoryTreeRoot: tree } }, ['dist']);
    expect(sent).toEqual({ path: '/ws', ignore: ['dist'], toolCallId: 'call-1' });
    expect(text).toBe('/ws\n  src/\n    deep/ (7 files, not listed)\n    m.ts\n  empty/\n  left.txt');
    expect(result.case).toBe('success');
  });

  it('says that a folder is empty', async () => {
    expect((await ls({ case: 'success', value: { directoryTreeRoot: { absPath: '/ws' } } })).text).toBe('/ws\n(empty)');
  });

  it('prefers what is near in a large tree, and says what is missing', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `f${at}` }));
    const large = {
      absPath: '/ws',
      childrenFiles: names(600),
      childrenDirs: [
        { absPath: '/ws/huge', childrenFiles: names(5000) },
        { absPath: '/ws/small', childrenFiles: names(2) },
      ],
    };
    const { text } = await ls({ case: 'success', value: { directoryTreeRoot: large } });
    expect(text).toMatch(/ {2}huge\/ \(5000 files, not listed\)\n {2}small\/\n {4}f0\n {4}f1\n {2}f0\n/);
    const flat = await ls({
      case: 'success',
      value: { directoryTreeRoot: { absPath: '/ws', childrenFiles: names(1500) } },
    });
    expect(flat.text).toMatch(/… 500 more entries$/);
  });

  it('keeps what was found before the time was over', async () => {
    const { text, isError, result } = await ls({ case: 'timeout', value: { directoryTreeRoot: tree } });
    expect(text).toMatch(/left\.txt\n\(The listing took too long/);
    expect([isError, result.case]).toEqual([false, 'timeout']);
  });

  it.each<[NonNullable<Script['ls']>, RegExp]>([
    [{ case: 'error', value: { path: '/ws', error: 'no such directory' } }, /no such directory/],
    [{ case: 'rejected', value: { path: '/ws', reason: 'private' } }, /did not allow.*private/],
    [{ case: 'timeout', value: {} }, /too long/],
    [new ExecFailure('thrown', 'ls broke'), /^ls broke$/],
  ])('turns the failure %o into an error', async (answer, words) => {
    const { text, isError } = await ls(answer);
    expect(text).toMatch(words);
    expect(isError).toBe(true);
  });

  it('opens a card without arguments', () => {
    const { context } = scriptedCall({});
    expect(openCard(lsTool.open({}, context), 'lsToolCall').args.path).toBe('');
    expect(openCard(grepTool.close({ pattern: 'x' }, 'cut', context), 'grepToolCall').result.result.case).toBe('error');
    expect(openCard(globTool.open({}, context), 'globToolCall').args.globPattern).toBe('');
  });
});
