import type { Requirement } from './requirement.ts';

/** State, history, checkpoints and resuming (§21, §23, R45–R52). */
export const conversation = [
  {
    id: '§21-state-both-ways',
    source: '§21',
    covers: 'server',
    says: 'The state of a checkpoint, brought back by the next run, yields the same history.',
  },
  {
    id: '§21-foreign-fields-kept',
    source: '§21',
    covers: 'server',
    says: 'State fields that the server does not use come back unchanged in its checkpoints.',
  },
  {
    id: '§23-presence-kept',
    source: '§23',
    covers: 'protocol',
    says: 'An optional field set to its default is told apart from one that is absent.',
  },
  {
    id: '§23-unknown-fields-kept',
    source: '§23',
    covers: 'protocol',
    says: 'Unknown fields survive decode and encode.',
  },
  {
    id: '§23-checkpoint-replaces',
    source: '§23',
    covers: 'client',
    says: 'A new checkpoint replaces the one before as a whole, while deltas append to what is shown.',
  },
  {
    id: 'R45-client-state-decides',
    source: 'R45',
    covers: 'server',
    says: 'The state the client brings decides, an older one rolls back, and a restarted server goes on from it.',
  },
  {
    id: 'R46-roots-are-json-messages',
    source: 'R46',
    covers: 'server',
    says: 'Each root prompt message is a blob with a JSON model message, root 0 the system prompt.',
  },
  {
    id: 'R46-reads-older-forms',
    source: 'R46',
    covers: 'server',
    says: 'input, output, mimeType and bare base64 images of foreign history are read, and unknown parts are kept.',
  },
  {
    id: 'R46-turns-beside-roots',
    source: 'R46',
    covers: 'server',
    says: 'turns holds the user message and the steps of the same history.',
  },
  {
    id: 'R47-prefix-byte-equal',
    source: 'R47',
    covers: 'server',
    says: 'The messages of model call n+1 start with those of call n byte for byte, runtime notes included.',
  },
  {
    id: 'R48-pending-filled',
    source: 'R48',
    covers: 'server',
    says: 'The staged checkpoint holds the pending assistant message with startedAtMs, and a foreign entry can be read back.',
  },
  {
    id: 'R48-resume-runs-pending',
    source: 'R48',
    covers: 'server',
    says: 'resume_action with pending calls runs or resolves them before the model is called.',
  },
  {
    id: 'R48-new-message-interrupts',
    source: 'R48',
    covers: 'server',
    says: 'A new user message closes pending calls as interrupted.',
  },
  {
    id: 'R48-never-issued-again',
    source: 'R48',
    covers: 'server',
    says: 'A call with a result in the history or in the ledger is not issued again.',
  },
  {
    id: 'R49-resume-continues',
    source: 'R49',
    covers: 'server',
    says: 'resume_action without pending work continues the turn and repeats no finished step.',
  },
  {
    id: 'R51-used-tokens',
    source: 'R51',
    covers: 'server',
    says: "token_details.used_tokens adds up the last model call, and max_tokens is the model's window.",
  },
  {
    id: 'R51-breakdown-adds-up',
    source: 'R51',
    covers: 'server',
    says: 'The breakdown by category adds up to used_tokens exactly.',
  },
  {
    id: 'R52-todos-folded',
    source: 'R52',
    covers: 'server',
    says: 'TodoWrite changes the todos of the next checkpoint, and merge keeps what it does not name.',
  },
  {
    id: 'K07-orphans-repaired',
    source: 'K07',
    covers: 'server',
    says: 'A call without a result or a result without its call gives a valid provider request.',
  },
] as const satisfies readonly Requirement[];
