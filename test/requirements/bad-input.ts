import type { Requirement } from './requirement.ts';

/** Each kind of bad input and its defined answer: what is wrong, where, how to mend it. */
export const badInput = [
  {
    id: 'bad-random-bytes',
    source: 'R55',
    covers: 'server',
    says: 'Random bytes as a body give invalid_argument in our words and the server serves the next request.',
  },
  {
    id: 'bad-wrong-content-type',
    source: 'R6',
    covers: 'server',
    says: 'A wrong content type gives 415 with the accepted one.',
  },
  {
    id: 'bad-truncated-envelope',
    source: '§1.2',
    covers: 'server',
    says: 'A truncated envelope on RunSSE gives an EndStream error that says so.',
  },
  {
    id: 'bad-oversized-envelope',
    source: 'R8',
    covers: 'server',
    says: 'An envelope that announces more than the limit is refused without being read.',
  },
  {
    id: 'bad-odd-hex',
    source: 'R7',
    covers: 'server',
    says: 'Hex of odd length or with a foreign character gives invalid_argument with the length or the position.',
  },
  {
    id: 'bad-two-payloads',
    source: 'R7',
    covers: 'server',
    says: 'data and data_binary that differ give invalid_argument that names both fields.',
  },
  {
    id: 'bad-seqno-gap',
    source: 'R11',
    covers: 'server',
    says: 'A gap in append_seqno that stays open gives a retryable error that names the missing number.',
  },
  {
    id: 'bad-seqno-duplicate',
    source: 'R11',
    covers: 'server',
    says: 'A duplicate append_seqno with other content changes nothing.',
  },
  {
    id: 'bad-huge-numbers',
    source: 'R10',
    covers: 'server',
    says: 'The largest append_seqno and answer ids do no harm, and a negative append_seqno is refused.',
  },
  {
    id: 'bad-unknown-request-id',
    source: 'R7',
    covers: 'server',
    says: 'Appends to thousands of unknown request ids leave no memory behind, and an empty id is refused.',
  },
  {
    id: 'bad-wrong-branch-answer',
    source: 'R28',
    covers: 'server',
    says: 'An answer of the wrong branch fails its call alone.',
  },
  {
    id: 'bad-answer-to-nobody',
    source: 'F14',
    covers: 'server',
    says: 'An exec, KV or interaction answer to an id nobody asked is ignored.',
  },
  {
    id: 'bad-oversized-blob',
    source: 'R8',
    covers: 'server',
    says: 'A blob above the limit is refused and the run ends with a clear error or goes on without it.',
  },
  {
    id: 'bad-wrong-hash',
    source: 'R41',
    covers: 'server',
    says: 'A blob with a wrong hash is treated as missing.',
  },
  {
    id: 'bad-unknown-model',
    source: 'R55',
    covers: 'server',
    says: "An unknown model's error names the nearest ids.",
  },
  {
    id: 'bad-config',
    source: 'product',
    covers: 'server',
    says: "A broken config is refused with the key's path, what was expected and what was found, and nothing starts.",
  },
  {
    id: 'bad-port-in-use',
    source: 'product',
    covers: 'command',
    says: 'A port in use ends serve with a text that names the port and the way out.',
  },
  {
    id: 'bad-dead-provider',
    source: 'R55',
    covers: 'server',
    says: 'A provider that refuses the connection gives unavailable with its address and no secret.',
  },
  {
    id: 'bad-provider-hangs-before-headers',
    source: 'R18',
    covers: 'server',
    says: 'A provider that never sends headers fails the run at its deadline while heartbeats go on.',
  },
  {
    id: 'bad-provider-hangs-mid-stream',
    source: 'R18',
    covers: 'server',
    says: 'A provider that falls silent in mid-stream fails the run at its deadline with the partial text shown.',
  },
  {
    id: 'bad-tool-arguments',
    source: 'R57',
    covers: 'server',
    says: 'Invalid tool arguments run no tool and tell the model how to mend them.',
  },
  {
    id: 'bad-client-gone-at-any-frame',
    source: 'R19',
    covers: 'server',
    says: "A client that leaves at any frame costs nothing but its run, and the run's memory comes back.",
  },
] as const satisfies readonly Requirement[];
