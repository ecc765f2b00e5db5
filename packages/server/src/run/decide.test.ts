import { describe, expect, it } from 'vitest';
import { decide, noAnswersYet } from './decide.ts';
import type { AnswerCounts, AnswerFacts, Decision } from './decide.ts';

const facts = (reason: AnswerFacts['reason'], more: Partial<AnswerFacts> = {}): AnswerFacts => ({
  reason,
  hasText: false,
  calls: 0,
  usableCalls: 0,
  ...more,
});
const text = { hasText: true };
const call = { calls: 1, usableCalls: 1 };
const badCall = { calls: 2, usableCalls: 0 };
const next = (of: AnswerFacts, counts: Partial<AnswerCounts> = {}): Decision =>
  decide(of, { ...noAnswersYet, ...counts }).decision;

describe('what follows a model call (R57)', () => {
  it.each<[string, AnswerFacts, Partial<AnswerCounts>, Decision['next']]>([
    ['stop with text', facts('stop', text), {}, 'end'],
    ['stop, empty', facts('stop'), {}, 'call-again'],
    ['stop, empty for the second time', facts('stop'), { emptyAnswers: 1 }, 'fail'],
    ['calls that can run', facts('tool-calls', call), {}, 'run-tools'],
    ['calls beside text', facts('tool-calls', { ...call, ...text }), {}, 'run-tools'],
    ['calls under the reason stop', facts('stop', call), {}, 'run-tools'],
    ['the reason tool-calls without any call', facts('tool-calls', text), {}, 'end'],
    [
      'one usable call among others',
      facts('tool-calls', { calls: 3, usableCalls: 1 }),
      { unusableInARow: 3 },
      'run-tools',
    ],
    ['unusable calls', facts('tool-calls', badCall), {}, 'run-tools'],
    ['unusable calls for the third time in a row', facts('tool-calls', badCall), { unusableInARow: 2 }, 'run-tools'],
    ['unusable calls for the fourth time in a row', facts('tool-calls', badCall), { unusableInARow: 3 }, 'fail'],
    ['length amid calls', facts('length', call), {}, 'refuse-cut-calls'],
    ['length amid calls, with text', facts('length', { ...badCall, ...text }), {}, 'refuse-cut-calls'],
    ['length amid calls again', facts('length', call), { cutCalls: 1 }, 'end-without-calls'],
    ['length with text', facts('length', text), {}, 'continue-text'],
    ['length with text again', facts('length', text), { continuations: 1 }, 'end'],
    ['length before any text', facts('length'), {}, 'end'],
    ['a refusal', facts('refusal'), {}, 'end-without-calls'],
    ['a refusal with text', facts('refusal', text), {}, 'end-without-calls'],
    ['a content filter amid calls', facts('content-filter', call), {}, 'end-without-calls'],
    ['no reason', facts('missing'), {}, 'fail'],
    ['no reason, with text and calls', facts('missing', { ...text, ...call }), {}, 'fail'],
  ])('after %s', (_how, of, counts, wanted) => {
    expect(next(of, counts).next).toBe(wanted);
  });

  it('tells the user whenever the answer is not what it would have been', () => {
    const noticed = [
      next(facts('length', call), { cutCalls: 1 }),
      next(facts('length', text), { continuations: 1 }),
      next(facts('length')),
      next(facts('refusal')),
      next(facts('content-filter')),
    ];
    for (const decision of noticed) expect('notice' in decision && decision.notice).toMatch(/\w+/);
    expect(next(facts('refusal', text))).toEqual({ next: 'end-without-calls' });
    expect(next(facts('stop', text))).toEqual({ next: 'end' });
  });

  it('fails with what a person can act on, and nothing that makes a client replay the turn', () => {
    const failed = [
      next(facts('missing', text)),
      next(facts('stop'), { emptyAnswers: 1 }),
      next(facts('tool-calls', badCall), { unusableInARow: 3 }),
    ];
    expect(failed.map(decision => decision.next === 'fail' && [decision.fault.code, decision.fault.retryable])).toEqual(
      [
        ['unavailable', false],
        ['unavailable', false],
        ['failed_precondition', false],
      ],
    );
  });

  it('counts each kind for itself, and begins anew after a usable call', () => {
    let counts = noAnswersYet;
    const step = (of: AnswerFacts) => {
      counts = decide(of, counts).counts;
      return counts;
    };
    expect(step(facts('stop'))).toEqual({ ...noAnswersYet, emptyAnswers: 1 });
    expect(step(facts('tool-calls', badCall))).toEqual({ ...noAnswersYet, emptyAnswers: 1, unusableInARow: 1 });
    expect(step(facts('length', call))).toMatchObject({ cutCalls: 1, unusableInARow: 1 });
    expect(step(facts('length', text))).toMatchObject({ cutCalls: 1, continuations: 1 });
    expect(step(facts('tool-calls', call))).toEqual({
      emptyAnswers: 0,
      unusableInARow: 0,
      cutCalls: 1,
      continuations: 1,
    });
  });
});
