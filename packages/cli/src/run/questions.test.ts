import { create } from '@bufbuild/protobuf';
import { InteractionQuerySchema } from '@tandem/protocol/agent';
import type { InteractionQuery } from '@tandem/protocol/agent';
import type { Query } from '@tandem/client';
import type { PermissionMode } from '@tandem/client/node';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSurroundings } from '../../test/surroundings.ts';
import { createLineReader } from './line-reader.ts';
import { createQuestions } from './questions.ts';

const never = new AbortController().signal;
const shell = (command: string, more: { reason?: string; rule?: string } = {}) => ({
  kind: 'shell' as const,
  command,
  workingDirectory: '/w',
  ...more,
});

function makeTerminal(permission: PermissionMode = 'ask') {
  const surroundings = makeSurroundings({ isTerminal: true });
  const questions = createQuestions(createLineReader(surroundings), permission);
  return { ...surroundings, questions };
}

function query(branch: InteractionQuery['query'] | { case: string; value: object }): Query {
  return create(InteractionQuerySchema, { id: 1, query: branch as never }).query as Query;
}

describe('questions on a terminal', () => {
  it('shows exactly what would run, its controls included, and takes y for once', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answer = questions.ask(shell('ls\x1b[2K\nrm -r x'), never);
    await stderr.until(/Allow\?/);
    expect(stderr.text).toBe('\nRun in /w:\n    ls\\x1b[2K\n    rm -r x\nAllow? y = once, n = no: ');
    stdin.write('y\n');
    expect(await answer).toBe('once');
  });

  it.each([
    ['y', 'once'],
    ['c', 'conversation'],
    ['always', 'always'],
    ['n', 'no'],
  ])('offers the rule that more leave would make, and takes %s for %s', async (typed, expected) => {
    const { stdin, stderr, questions } = makeTerminal();
    const answer = questions.ask(shell('make', { rule: 'shell: =make' }), never);
    await stderr.until(/c and a allow by a rule: shell: =make\nAllow\? .*a = always here, \? = help: $/);
    stdin.write(`${typed}\n`);
    expect(await answer).toBe(expected);
  });

  it('asks again until the answer is one', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answer = questions.ask({ kind: 'delete', path: '/w/a' }, never);
    await stderr.until(/Delete:\n {4}\/w\/a\nAllow\?/);
    stdin.write('what\n');
    await stderr.until(/Allow\?.*y or yes: it is done this once\..*\nAllow\?/);
    stdin.write('no\n');
    expect(await answer).toBe('no');
  });

  it('does not offer more than once for what is unusual, and says why it is', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const reason = 'it is outside of the workspace';
    const answer = questions.ask({ kind: 'write', path: '/etc/hosts', reason }, never);
    await stderr.until(/Allow\?/);
    expect(stderr.text).toBe(
      '\nWrite:\n    /etc/hosts\n  (no text, so it is not shown)\n  (it is outside of the workspace)\nAllow? y = once, n = no: ',
    );
    stdin.write('always\n');
    await stderr.until(/Allow\?[^]*Allow\?/);
    stdin.write('n\n');
    expect(await answer).toBe('no');
  });

  it('[product-permission-question] shows what a write would change before it is allowed, bounded and safe', async () => {
    const { cwd, stdin, stderr, questions } = makeTerminal();
    const path = join(cwd, 'a.txt');
    writeFileSync(path, 'one\ntwo\nthree\nfour\nfive\n');
    const ask = (contents: string, at = path) => questions.ask({ kind: 'write', path: at, contents }, never);
    const shownOf = async (answer: ReturnType<typeof ask>) => {
      const [, shown] = await stderr.until(/Write:\n {4}\S+\n([^]*)Allow\?.*: $/);
      stderr.text = '';
      stdin.write('n\n');
      await answer;
      return shown;
    };
    expect(await shownOf(ask('one\ntwo\nTHREE\x1b[2J\nfour\nfive\n'))).toBe(
      '    … 1 lines above stay\n     two\n    -three\n    +THREE\\x1b[2J\n     four\n',
    );
    expect(await shownOf(ask('one\ntwo\nthree\nfour\nfive\n'))).toBe('  (nothing in it would change)\n');
    const many = Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join('');
    const shown = (await shownOf(ask(many, join(cwd, 'new.txt'))))?.split('\n') ?? [];
    expect([shown[0], shown[23], shown.length]).toEqual(['    +line 0', '    … 77 more lines', 25]);
  });

  it('[product-permission-question] says on ? what each answer does', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answer = questions.ask(shell('make', { rule: 'shell: =make' }), never);
    await stderr.until(/help: $/);
    stdin.write('?\n');
    await stderr.until(
      /"shell: =make" covers is done without asking until this command ends[^]*kept in your permissions\.json\.\nAllow\?/,
    );
    stdin.write('y\n');
    expect(await answer).toBe('once');
  });

  it('asks parallel questions one after the other', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answers = Promise.all([questions.ask(shell('a'), never), questions.ask(shell('b'), never)]);
    await stderr.until(/ {4}a\nAllow\?/);
    expect(stderr.text).not.toContain('    b');
    stdin.write('y\n');
    await stderr.until(/ {4}b\nAllow\?/);
    stdin.write('n\n');
    expect(await answers).toEqual(['once', 'no']);
  });

  it('drops what was typed before the question', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    stdin.write('y\n');
    await new Promise(resolve => setImmediate(resolve));
    const answer = questions.ask(shell('x'), never);
    await stderr.until(/Allow\?/);
    stdin.write('n\n');
    expect(await answer).toBe('no');
  });

  it('takes a withdrawn question and the end of the input for no', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const withdrawal = new AbortController();
    const withdrawn = questions.ask(shell('x'), withdrawal.signal);
    await stderr.until(/Allow\?/);
    withdrawal.abort();
    expect(await withdrawn).toBe('no');
    const unanswered = questions.ask(shell('y'), never);
    stdin.end();
    expect(await unanswered).toBe('no');
    expect(await questions.ask(shell('z'), never)).toBe('no');
  });
});

describe('questions of the server', () => {
  const search = query({ case: 'webSearchRequestQuery', value: { args: { searchTerm: 'cats' } } });
  const ask = query({
    case: 'askQuestionInteractionQuery',
    value: {
      args: {
        title: 'Colours',
        questions: [
          {
            id: 'q1',
            prompt: 'Which?',
            options: [
              { id: 'r', label: 'Red' },
              { id: 'b', label: 'Blue' },
            ],
          },
          { id: 'q2', prompt: 'Why?', options: [] },
        ],
      },
    },
  });

  it('asks for a web search and refuses it with a reason on no', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answer = questions.answerQuery(search, { signal: never, id: 1 });
    await stderr.until(/Search the web for:\n {4}cats\nAllow\?/);
    stdin.write('n\n');
    expect(await answer).toMatchObject({
      case: 'webSearchRequestResponse',
      value: { result: { case: 'rejected', value: { reason: 'the user said no' } } },
    });
  });

  it('grants a web search without asking under auto, and none when read-only', async () => {
    expect(await makeTerminal('auto').questions.answerQuery(search, { signal: never, id: 1 })).toMatchObject({
      value: { result: { case: 'approved' } },
    });
    expect(await makeTerminal('read-only').questions.answerQuery(search, { signal: never, id: 1 })).toBeUndefined();
  });

  it('lets the person choose by number, or say it in words', async () => {
    const { stdin, stderr, questions } = makeTerminal('auto');
    const answer = questions.answerQuery(ask, { signal: never, id: 1 });
    await stderr.until(/Colours\n\nWhich\?\n {2}1\. Red\n {2}2\. Blue\nA number, or your own words: $/);
    stdin.write('3\n');
    await stderr.until(/own words: A number/);
    stdin.write('2\n');
    await stderr.until(/Why\?\n› $/);
    stdin.write('because\n');
    expect(await answer).toMatchObject({
      case: 'askQuestionInteractionResponse',
      value: {
        result: {
          result: {
            case: 'success',
            value: {
              answers: [
                { questionId: 'q1', selectedOptionIds: ['b'] },
                { questionId: 'q2', freeformText: 'because' },
              ],
            },
          },
        },
      },
    });
  });
});
