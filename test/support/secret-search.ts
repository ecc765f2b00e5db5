import { toBinary } from '@bufbuild/protobuf';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Peer } from './peer.ts';
import type { TestServer } from './server.ts';

/** Everything that a server let out or wrote down, by where it was found, as bytes. */
export type Traces = ReadonlyMap<string, Buffer>;

/** Collects the traces of a server and of the clients that talked to it: log, store files, frames, ends, blobs, refusals. */
export function tracesOf(server: TestServer, peers: readonly Peer[], more: Record<string, string> = {}): Traces {
  const traces = new Map<string, Buffer>();
  server.log.forEach((line, at) => traces.set(`log line ${at} (${line.text})`, Buffer.from(JSON.stringify(line))));
  for (const name of readdirSync(server.folder)) {
    if (name.startsWith('tandem.db')) traces.set(`store file ${name}`, readFileSync(join(server.folder, name)));
  }
  peers.forEach((peer, at) => {
    for (const frame of peer.frames) {
      const bytes = frame.message ? Buffer.from(toBinary(AgentServerMessageSchema, frame.message)) : Buffer.alloc(0);
      const { title, detail, additionalInfo } = frame.fault ?? {};
      const end = JSON.stringify({ title, detail, additionalInfo });
      traces.set(`frame ${frame.index} of client ${at} (${frame.key})`, Buffer.concat([bytes, Buffer.from(end)]));
    }
    for (const [id, data] of peer.blobs) traces.set(`blob ${id} of client ${at}`, Buffer.from(data));
    traces.set(`refusals of client ${at}`, Buffer.from(JSON.stringify(peer.faults)));
  });
  for (const [name, text] of Object.entries(more)) traces.set(name, Buffer.from(text));
  return traces;
}

/** Where a secret stands, in any spelling in which software repeats one: as it is, hex, base64, percent-encoded, escaped. */
export function findSecrets(traces: Traces, secrets: Readonly<Record<string, string>>): string[] {
  const found: string[] = [];
  for (const [name, secret] of Object.entries(secrets)) {
    const bytes = Buffer.from(secret);
    const spellings = [
      secret,
      bytes.toString('hex'),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
    ];
    for (const [place, trace] of traces) {
      if (spellings.some(spelling => trace.includes(spelling))) found.push(`${name} in ${place}`);
    }
  }
  return found;
}
