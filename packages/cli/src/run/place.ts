import type { Mode } from '@tandem/client';
import type { StartFailure } from '../start-failure.ts';
import type { Surroundings } from '../surroundings.ts';

/** The flags that say which server a command talks to. */
export interface PlaceOptions {
  readonly server?: string;
  readonly key?: string;
  readonly config?: string;
}

/** A server to talk to: one that was named, or one inside this process. */
export interface Place {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly notices: readonly string[];
  close(): Promise<void>;
}

/** What is wrong with these flags, for a person; undefined when nothing is. */
export function placeProblem({ server, key, config }: PlaceOptions): string | undefined {
  if (server !== undefined && !(URL.canParse(server) && /^https?:$/.test(new URL(server).protocol))) {
    return `--server takes an http or https address such as http://127.0.0.1:7788, and ${JSON.stringify(server)} is none.`;
  }
  if (server !== undefined && config !== undefined)
    return '--config is about a server inside this process; leave it out with --server.';
  if (key !== undefined && server === undefined)
    return '--key is for the server that --server names; without one there is nobody to give it to.';
  return undefined;
}

/** Why a server inside this process cannot work in a mode, for a person; undefined when it can, or another server is named. */
export function modeProblem(mode: Mode | undefined, server: string | undefined): string | undefined {
  if (server !== undefined || mode === undefined || mode === 'agent') return undefined;
  return `The server inside this process works in agent mode alone; ${mode} is for a server that has it, named by --server.`;
}

/** The server that was named; else one inside this process, whose code is loaded only then. */
export async function openPlace(options: PlaceOptions, surroundings: Surroundings): Promise<Place | StartFailure> {
  if (options.server !== undefined) {
    const apiKey = options.key ?? surroundings.env['TANDEM_API_KEY'];
    return { url: options.server, apiKey, notices: [], close: () => Promise.resolve() };
  }
  const { startOwnServer } = await import('./own-server.ts');
  return startOwnServer(options.config === undefined ? {} : { config: options.config }, surroundings);
}
