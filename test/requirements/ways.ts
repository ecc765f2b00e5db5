import type { Requirement } from './requirement.ts';

/** What holds on every way into the server, whichever HTTP version carries it (R1, R2, R19, R20). */
export const ways = [
  {
    id: 'R2-every-way',
    source: 'R2',
    covers: 'server',
    says: 'RunSSE, Run and RunPoll play the same turns over HTTP/1.1 and HTTP/2, plain and with TLS, as far as each can be carried.',
  },
  {
    id: 'R2-hop-headers',
    source: 'R2',
    covers: 'server',
    says: 'Headers that belong to one hop change nothing over HTTP/1.1, cost their own call alone over HTTP/2, and no answer over HTTP/2 has any.',
  },
  {
    id: 'R2-header-case',
    source: 'R2',
    covers: 'server',
    says: 'Header names mean the same in any case over HTTP/1.1, and are lower-case in every answer over HTTP/2.',
  },
  {
    id: 'R5-codec-on-every-way',
    source: 'R5',
    covers: 'server',
    says: 'A stream whose request names gzip or br gets its large frames in that codec, whichever call carries it.',
  },
  {
    id: 'R19-slow-reader',
    source: 'R19',
    covers: 'server',
    says: 'A reader that stops reading stops the model once a bound waits for it, holds up no other stream, and later gets every byte.',
  },
  {
    id: 'R20-half-close',
    source: 'R20',
    covers: 'server',
    says: 'A client that closes its direction of Run cancels nothing: what needs no answer comes whole, and what needs one waits out its own deadline.',
  },
  {
    id: 'T06-ping-at-any-time',
    source: 'T06',
    covers: 'server',
    says: 'A PING is acknowledged on every connection of HTTP/2, whatever its streams do.',
  },
  {
    id: 'product-goaway',
    source: 'product',
    covers: 'server',
    says: 'A server that shuts down sends GOAWAY, lets its runs end with all that their clients have to append, and takes no new run.',
  },
  {
    id: 'product-client-goaway',
    source: 'product',
    covers: 'server',
    says: 'A GOAWAY of the client costs none of the streams that it has open.',
  },
] as const satisfies readonly Requirement[];
