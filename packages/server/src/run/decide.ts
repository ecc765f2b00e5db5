import { fault } from '@tandem/protocol';
import type { Fault } from '@tandem/protocol';
import { INVALID_CALLS_IN_A_ROW } from '../limits.ts';
import type { FinishReason } from '../model/port.ts';

/** What matters of an answer for what follows, and what happened before it in this turn. */
export interface AnswerFacts {
  readonly reason: FinishReason;
  readonly hasText: boolean;
  readonly calls: number;
  /** Calls whose arguments can be used, of tools that were offered. */
  readonly usableCalls: number;
}

/** Counted over one turn; `decide` gives the next counts with its decision. */
export interface AnswerCounts {
  readonly emptyAnswers: number;
  readonly unusableInARow: number;
  readonly cutCalls: number;
  readonly continuations: number;
}

export const noAnswersYet: AnswerCounts = { emptyAnswers: 0, unusableInARow: 0, cutCalls: 0, continuations: 0 };

export type Decision =
  | { next: 'end'; notice?: string }
  | { next: 'call-again' }
  | { next: 'run-tools' }
  /** No call runs; each gets a result that says the output was cut. */
  | { next: 'refuse-cut-calls' }
  /** The text stays; one more call goes on from where it stopped. */
  | { next: 'continue-text' }
  /** No call runs and none is kept. */
  | { next: 'end-without-calls'; notice?: string }
  | { next: 'fail'; fault: Fault };

/** How a model call ended decides what follows (R57, a row of its table each). Pure. */
export function decide(facts: AnswerFacts, counts: AnswerCounts): { decision: Decision; counts: AnswerCounts } {
  const result = (decision: Decision, changed: Partial<AnswerCounts> = {}) => ({
    decision,
    counts: { ...counts, ...changed },
  });
  switch (facts.reason) {
    case 'missing':
      return result({
        next: 'fail',
        fault: fault(
          'provider_broke_off',
          'The answer of the provider ended without saying that it was complete. What was shown of it is not kept: send the message again.',
        ),
      });
    case 'refusal':
    case 'content-filter': {
      const notice =
        facts.reason === 'refusal'
          ? 'The model declined to answer this.'
          : 'The provider withheld the answer by its content filter.';
      return result(facts.hasText ? { next: 'end-without-calls' } : { next: 'end-without-calls', notice });
    }
    case 'length':
      if (facts.calls > 0) {
        if (counts.cutCalls === 0) return result({ next: 'refuse-cut-calls' }, { cutCalls: 1 });
        return result({
          next: 'end-without-calls',
          notice: 'The answer was cut by the output limit of the model twice; its tool calls did not run.',
        });
      }
      if (!facts.hasText) {
        return result({
          next: 'end',
          notice: 'The answer was cut by the output limit of the model before it had any text.',
        });
      }
      return counts.continuations === 0
        ? result({ next: 'continue-text' }, { continuations: 1 })
        : result({ next: 'end', notice: 'The answer was cut by the output limit of the model.' });
    case 'stop':
    case 'tool-calls': {
      if (facts.calls > 0) {
        if (facts.usableCalls > 0) return result({ next: 'run-tools' }, { unusableInARow: 0, emptyAnswers: 0 });
        const unusableInARow = counts.unusableInARow + 1;
        if (unusableInARow < INVALID_CALLS_IN_A_ROW + 1) return result({ next: 'run-tools' }, { unusableInARow });
        return result({
          next: 'fail',
          fault: fault(
            'provider_refused_request',
            `The model called tools with unusable arguments ${unusableInARow} times in a row. Another model, or a simpler request, may help.`,
            { title: 'Unusable tool calls' },
          ),
        });
      }
      if (facts.hasText) return result({ next: 'end' });
      if (counts.emptyAnswers === 0) return result({ next: 'call-again' }, { emptyAnswers: 1 });
      return result({
        next: 'fail',
        fault: fault(
          'empty_answer',
          'The model stopped twice without an answer. Send the message again, or choose another model.',
        ),
      });
    }
  }
}
