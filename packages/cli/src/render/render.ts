import type { EndEvent, RunEvent } from '@tandem/client';

/** A piece of output, and where it belongs. */
export interface Piece {
  readonly to: 'stdout' | 'stderr';
  readonly text: string;
}

/** Turns the events of one run into output, in their order. It keeps what it needs between them and touches nothing else. */
export type Render = (event: RunEvent) => Piece[];

/** The end of a run that never began: its server could not be started, or its prompt not be read. */
export function endUnbegun(title: string, message: string, code: 'invalid_argument' | 'failed_precondition'): EndEvent {
  return {
    type: 'end',
    outcome: 'failed',
    text: '',
    conversationId: '',
    error: { code, title, message, retryable: false },
  };
}
