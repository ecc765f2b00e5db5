import type { Requirement } from './requirement.ts';

/** Identities, order of appends, reconnects and who owns a stream (§1.1, §3, §14, R10–R15). */
export const order = [
  {
    id: '§3.1-unknown-branch',
    source: '§3.1',
    covers: 'server',
    says: 'A client message with an unset or unknown branch is acknowledged and ignored while the run goes on.',
  },
  {
    id: '§5-prewarm-accepted',
    source: '§5',
    covers: 'server',
    says: 'A prewarm_request is acknowledged, starts no run, and the run that follows on the request completes.',
  },
  {
    id: '§14-two-heartbeats',
    source: '§14',
    covers: 'server',
    says: 'client_heartbeat renews no exec deadline, and an exec heartbeat renews that of its own exec alone.',
  },
  {
    id: 'R10-out-of-order',
    source: 'R10',
    covers: 'server',
    says: 'Appends that arrive as 0, 2, 1 act in the order 0, 1, 2.',
  },
  {
    id: 'R10-starts-at-one',
    source: 'R10',
    covers: 'server',
    says: 'Numbering from an absent append_seqno (0) and from 1 both complete a turn.',
  },
  {
    id: 'R11-duplicate-dropped',
    source: 'R11',
    covers: 'server',
    says: 'The same append_seqno posted twice is acknowledged twice and acts once.',
  },
  {
    id: 'R11-gap-becomes-error',
    source: 'R11',
    covers: 'server',
    says: 'A gap still open after the grace time ends the stream with a retryable error.',
  },
  {
    id: 'R11-cancel-passes-gap',
    source: 'R11',
    covers: 'server',
    says: 'A heartbeat and a cancel_action behind a gap take effect at once.',
  },
  {
    id: 'R12-stream-first',
    source: 'R12',
    covers: 'server',
    says: 'A RunSSE that comes before the first append joins the run when the append arrives.',
  },
  {
    id: 'R12-append-first',
    source: 'R12',
    covers: 'server',
    says: 'A RunSSE that comes after the first append receives the run from its first frame.',
  },
  {
    id: 'R12-placeholder-ends',
    source: 'R12',
    covers: 'server',
    says: 'A RunSSE that no append follows ends with deadline_exceeded, retryable, after 30 s by default.',
  },
  {
    id: 'R12-placeholders-bounded',
    source: 'R12',
    covers: 'server',
    says: 'An owner cannot hold more than the bounded number of waiting streams.',
  },
  {
    id: 'R13-request-id-again',
    source: 'R13',
    covers: 'server',
    says: 'A request_id whose run has ended starts a new run with numbering from 0.',
  },
  {
    id: 'R13-old-generation-dropped',
    source: 'R13',
    covers: 'server',
    says: 'Late events of an older generation do not reach the new stream of the same request_id.',
  },
  {
    id: 'R14-separate-numbers',
    source: 'R14',
    covers: 'server',
    says: 'Exec and KV numbers are counted separately on one stream and only grow.',
  },
  {
    id: 'R14-zero-is-valid',
    source: 'R14',
    covers: 'server',
    says: 'An answer with id 0 belongs to the question with number 0 and to no other.',
  },
  {
    id: 'R14-exec-id-checked',
    source: 'R14',
    covers: 'server',
    says: 'An answer without exec_id is matched by its number, and one with a different exec_id is not taken.',
  },
  {
    id: 'R15-superseded',
    source: 'R15',
    covers: 'server',
    says: 'A second run on a conversation ends the live one with failed_precondition titled Superseded, not retryable.',
  },
  {
    id: 'R15-same-run-retried',
    source: 'R15',
    covers: 'server',
    says: 'A new attempt with a known run_id or x-original-request-id ends the older attempt as superseded.',
  },
  {
    id: 'R15-late-events-stay-out',
    source: 'R15',
    covers: 'server',
    says: 'Late results and model events of a superseded run never reach the run that replaced it.',
  },
  {
    id: 'R15-retry-continues',
    source: 'R15',
    covers: 'server',
    says: 'A retry with the last checkpoint and resume_action finishes the turn.',
  },
  {
    id: 'F4-followers-wait',
    source: 'F4',
    covers: 'server',
    says: 'An append that overtakes a large first message waits for it instead of failing the run.',
  },
  {
    id: 'F7-late-close-harmless',
    source: 'F7',
    covers: 'server',
    says: 'The late close of a socket that lost the stream does not end the stream.',
  },
  {
    id: 'F13-early-results',
    source: 'F13',
    covers: 'server',
    says: 'Results of parallel execs that arrive in any order each reach their own call.',
  },
] as const satisfies readonly Requirement[];
