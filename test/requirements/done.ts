import type { Requirement } from './requirement.ts';

/** Proofs over the whole house, each shown by one command (product). */
export const done = [
  {
    id: 'done-two-commands',
    source: 'product',
    covers: 'command',
    says: 'npm ci and npm start run with a prompt exit 0 on a clean clone with no key and no network.',
  },
  {
    id: 'done-readme-curl',
    source: 'product',
    covers: 'server',
    says: 'The curl line of the README works as printed.',
  },
  {
    id: 'done-descriptors-equal-tables',
    source: 'product',
    covers: 'protocol',
    says: 'The generated descriptors equal the tables of the schema field by field.',
  },
  {
    id: 'done-inspect-capture',
    source: '§1.2',
    covers: 'command',
    says: 'inspect on a recorded capture prints the shape of §1.2, compressed frames and end frames included.',
  },
  {
    id: 'done-kill-mid-round',
    source: 'R48',
    covers: 'server',
    says: 'After kill -9 in a parallel round a retry finishes the turn, no acknowledged tool runs twice and no blob is missing.',
  },
  {
    id: 'done-twenty-turns',
    source: 'R47',
    covers: 'server',
    says: 'Twenty turns over two restarts with a new client process each keep the whole history with byte-equal prefixes.',
  },
  {
    id: 'done-h1-equals-h2c',
    source: 'R2',
    covers: 'server',
    says: 'The same scenarios pass over HTTP/1.1 and over h2c.',
  },
  {
    id: 'done-memory-returns',
    source: 'product',
    covers: 'server',
    says: "After bad input and broken runs the server's streams, runs and queues are empty again.",
  },
] as const satisfies readonly Requirement[];
