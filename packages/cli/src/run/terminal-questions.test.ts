import { create } from '@bufbuild/protobuf';
import { InteractionQuerySchema } from '@tandem/protocol/agent';
import type { Query } from '@tandem/client';
import { describe, expect, it } from 'vitest';
import { makeSurroundings } from '../../test/surroundings.ts';
import { createTerminalQuestions } from './terminal-questions.ts';

const never = new AbortController().signal;
const shell = (command: string, reason?: string) => ({
  kind: 'shell' as const,
  command,
  workingDirectory: '/w',
  ...(reason !== undefined && { reason }),
});

function makeTerminal() {
  const surroundings = makeSurroundings({ isTerminal: true });
  return { ...surroundings, questions: createTerminalQuestions(surroundings) };
}

describe('questions on a terminal', () => {
  it('shows exactly what would run, its controls included, and takes y for yes', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answer = questions.ask(shell('ls\x1b[2K\nrm -r x'), never);
    await stderr.until(/Allow\?/);
    expect(stderr.text).toBe(
      '\nRun in /w:\n    ls\\x1b[2K\n    rm -r x\nAllow? y = yes, n = no, always = this command without asking: ',
    );
    stdin.write('y\n');
    expect(await answer).toBe(true);
  });

  it('asks again until the answer is one', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answer = questions.ask({ kind: 'delete', path: '/w/a' }, never);
    await stderr.until(/Delete:\n {4}\/w\/a\nAllow\?/);
    stdin.write('what\n');
    await stderr.until(/Allow\?.*Allow\?/);
    stdin.write('no\n');
    expect(await answer).toBe(false);
  });

  it('remembers always for the same command alone', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const first = questions.ask(shell('make'), never);
    await stderr.until(/Allow\?/);
    stdin.write('always\n');
    expect(await first).toBe(true);
    expect(await questions.ask(shell('make'), never)).toBe(true);
    const other = questions.ask(shell('make install'), never);
    await stderr.until(/make install\nAllow\?/);
    stdin.write('n\n');
    expect(await other).toBe(false);
  });

  it('does not offer always for what is unusual, and says why it is', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answer = questions.ask(
      { kind: 'write', path: '/etc/hosts', reason: 'it is outside of the workspace' },
      never,
    );
    await stderr.until(/Allow\?/);
    expect(stderr.text).toBe('\nWrite:\n    /etc/hosts\n  (it is outside of the workspace)\nAllow? y = yes, n = no: ');
    stdin.write('always\n');
    await stderr.until(/Allow\?.*Allow\?/);
    stdin.write('n\n');
    expect(await answer).toBe(false);
  });

  it('asks parallel questions one after the other', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const answers = Promise.all([questions.ask(shell('a'), never), questions.ask(shell('b'), never)]);
    await stderr.until(/ {4}a\nAllow\?/);
    expect(stderr.text).not.toContain('    b');
    stdin.write('y\n');
    await stderr.until(/ {4}b\nAllow\?/);
    stdin.write('n\n');
    expect(await answers).toEqual([true, false]);
  });

  it('drops what was typed before the question', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    stdin.write('y\n');
    await new Promise(resolve => setImmediate(resolve));
    const answer = questions.ask(shell('x'), never);
    await stderr.until(/Allow\?/);
    stdin.write('n\n');
    expect(await answer).toBe(false);
  });

  it('takes a withdrawn question and the end of the input for no', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const withdrawal = new AbortController();
    const withdrawn = questions.ask(shell('x'), withdrawal.signal);
    await stderr.until(/Allow\?/);
    withdrawal.abort();
    expect(await withdrawn).toBe(false);
    const unanswered = questions.ask(shell('y'), never);
    stdin.end();
    expect(await unanswered).toBe(false);
    expect(await questions.ask(shell('z'), never)).toBe(false);
  });

  it('asks for a web search and refuses it with a reason on no', async () => {
    const { stdin, stderr, questions } = makeTerminal();
    const { query } = create(InteractionQuerySchema, {
      id: 1,
      query: { case: 'webSearchRequestQuery', value: { args: { searchTerm: 'cats' } } },
    });
    const answer = questions.answerQuery(query as Query, { signal: never });
    await stderr.until(/Search the web for:\n {4}cats\nAllow\?/);
    stdin.write('n\n');
    expect(await answer).toMatchObject({
      case: 'webSearchRequestResponse',
      value: { result: { case: 'rejected', value: { reason: 'the user said no' } } },
    });
  });
});
