import { resolve } from 'node:path';
import { openStore, stateFolder } from '@tandem/client/node';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { isKept } from '../history/find-conversation.ts';
import { firstPrompt } from '../history/transcript.ts';
import { plainJson, plainLine } from '../render/plain-text.ts';
import type { Surroundings } from '../surroundings.ts';
import { writeTo } from '../surroundings.ts';

/** The flags of `tandem history`, as they were given. */
export interface HistoryOptions {
  readonly cwd?: string;
  readonly all?: boolean;
  readonly limit?: number;
  readonly json?: boolean;
  readonly prune?: boolean;
}

const LIMIT = 20;
const TITLE_CHARACTERS = 80;

/** The conversations of a folder, the newest first: when, id, turns, and what was asked first. With `prune` none: room is given back instead. */
export async function history(options: HistoryOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { stdout, stderr, cwd } = surroundings;
  const folder = resolve(cwd, options.cwd ?? '.');
  const store = openStore();
  try {
    if (options.prune) {
      const { blobs, bytes } = await store.collect();
      stderr.write(`tandem: Removed ${blobs} pieces of conversations that are gone, ${bytes} bytes.\n`);
      return EXIT.done;
    }
    const kept = (await store.list(options.all ? {} : { cwd: folder })).filter(isKept);
    const found = kept.slice(0, options.limit ?? LIMIT);
    for (const { id, cwd: place, turns = 0, firstTurn, updatedAt } of found) {
      const title = await firstPrompt(firstTurn, store.blobs);
      const when = new Date(updatedAt).toISOString();
      const line = options.json
        ? plainJson({ id, cwd: place, turns, updatedAt: when, title })
        : `${when.slice(0, 16).replace('T', ' ')}  ${id}  ${turns === 1 ? '1 turn' : `${turns} turns`}  ` +
          (options.all ? `${plainLine(place, TITLE_CHARACTERS)}  ` : '') +
          plainLine(title || '(nothing was kept)', TITLE_CHARACTERS);
      await writeTo(stdout, `${line}\n`);
    }
    if (found.length === 0)
      stderr.write(`tandem: There is no conversation ${options.all ? 'on this machine' : `in ${folder}`} yet.\n`);
    return EXIT.done;
  } catch (error) {
    stderr.write(`tandem: The conversations in ${stateFolder()} cannot be read: ${(error as Error).message}.\n`);
    return EXIT.failed;
  } finally {
    store.close();
  }
}
