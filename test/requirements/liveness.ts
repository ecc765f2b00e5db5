import type { Requirement } from './requirement.ts';

/** Heartbeats, deadlines, lost and returning readers (R16–R19). */
export const liveness = [
  {
    id: 'R16-first-frame-1s',
    source: 'R16',
    covers: 'server',
    says: 'The first frame arrives within one second of RunSSE, even when the provider never answers.',
  },
  {
    id: 'R16-heartbeat-5s',
    source: 'R16',
    covers: 'server',
    says: 'No more than 5 s pass without a frame, while the model is silent and while tools run.',
  },
  {
    id: 'R16-heartbeat-under-load',
    source: 'R16',
    covers: 'server',
    says: 'Other streams keep their heartbeats while a 12 MB prompt or an 8 MB read result passes.',
  },
  {
    id: 'R17-silence-given-up',
    source: 'R17',
    covers: 'client',
    says: 'An attempt without a whole frame is given up after 30 s, configurable from 15 to 75 s.',
  },
  {
    id: 'R17-client-heartbeats',
    source: 'R17',
    covers: 'client',
    says: 'The client appends client_heartbeat every 5 s while a run is open.',
  },
  {
    id: 'R17-client-exec-heartbeats',
    source: 'R17',
    covers: 'client',
    says: 'The client sends an exec heartbeat every 3 to 5 s for each exec that still runs.',
  },
  {
    id: 'R18-exec-deadline',
    source: 'R18',
    covers: 'server',
    says: 'An exec never answered becomes a tool error at its deadline, which its own heartbeats renew, and the turn goes on.',
  },
  {
    id: 'R18-blob-deadline',
    source: 'R18',
    covers: 'server',
    says: 'A blob that is never answered counts as missing instead of blocking the run.',
  },
  {
    id: 'R19-reader-gone-cancels',
    source: 'R19',
    covers: 'server',
    says: 'A run whose reader does not come back within the grace is cancelled and its provider stream aborted.',
  },
  {
    id: 'R19-no-new-work-unread',
    source: 'R19',
    covers: 'server',
    says: 'A run without a reader starts no model call and no exec.',
  },
  {
    id: 'R19-reconnect-in-order',
    source: 'R19',
    covers: 'server',
    says: 'A reconnect within the grace gets the frames not fully written to the old socket, in order and none twice.',
  },
  {
    id: 'R19-newest-reader-owns',
    source: 'R19',
    covers: 'server',
    says: 'A second RunSSE on a live request takes the stream over from the first.',
  },
  {
    id: 'R19-kept-frames-bounded',
    source: 'R19',
    covers: 'server',
    says: 'More unread frames than the bound end the stream with a retryable error.',
  },
  {
    id: 'T14-long-silence',
    source: 'T14',
    covers: 'server',
    says: 'A provider that is silent for 40 s before its text costs at least seven heartbeats and no error.',
  },
  {
    id: 'S01-watchdog-pauses',
    source: 'S01',
    covers: 'client',
    says: "The client's silence timer pauses while one of its own execs runs.",
  },
] as const satisfies readonly Requirement[];
