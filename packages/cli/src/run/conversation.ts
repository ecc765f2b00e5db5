import { randomUUID } from 'node:crypto';
import type { BlobStore, Run } from '@tandem/client';
import { openStore, stateFolder } from '@tandem/client/node';
import type { OnFileChange, Store, Undone } from '@tandem/client/node';
import { findConversation } from '../history/find-conversation.ts';

/** The conversation that a run goes on with, and where it is kept. */
export interface Conversation {
  readonly id: string;
  /** The last checkpoint, when there was a turn before. */
  readonly state: Run['state'];
  /** Absent: the blobs live in memory. */
  readonly blobs: BlobStore | undefined;
  /** Keeps a checkpoint. Never rejects: a disk that is full must not end a run, so the user is told once. */
  save(state: Run['state']): Promise<void>;
  /** A turn begins: from now on changes of files count to it. */
  beginTurn(): Promise<void>;
  /** Keeps a file as it is before it is changed, for an undo. */
  readonly recordChange: OnFileChange;
  /** Brings back the files of the last turn that changed any. */
  undo(): Promise<Undone | undefined>;
  /** Gives back the room of what no conversation needs any more, when that is due. Never rejects, and takes two seconds at most. */
  tidy(): Promise<void>;
  /** Forgets a conversation that began here when nothing of it was kept and no file was changed. Never rejects. */
  drop(): Promise<void>;
  close(): void;
}

export interface ConversationChoice {
  /** The folder of the run. */
  readonly folder: string;
  /** Go on with the last conversation of the folder. */
  readonly continues: boolean;
  /** Go on with this one. */
  readonly resumes: string | undefined;
  /** Tells the user something. */
  readonly say: (text: string) => void;
}

/** Nobody waits longer at the end of a command; a store that needs more is left to `tandem history --prune`. In milliseconds. */
const TIDY_LONGEST = 2_000;

/**
 * Opens the conversation of a run. It is on disk before the run begins, so that a full disk is told at once and an undo finds it. A store that
 * cannot be used is replaced by memory, unless a conversation from it was asked for.
 */
export async function openConversation(choice: ConversationChoice): Promise<Conversation | { problem: string }> {
  const { folder, continues, resumes, say } = choice;
  const store = openStore();
  try {
    const found =
      resumes !== undefined ? await findConversation(store, resumes) : continues ? await store.last(folder) : undefined;
    if (found && 'problem' in found) {
      store.close();
      return found;
    }
    if (continues && !found)
      return { problem: `There is no conversation in ${folder} to continue. Run without --continue to begin one.` };
    const id = found?.id ?? randomUUID();
    await store.save(id, { cwd: folder });
    return stored(store, { id, isNew: !found, folder, state: found?.state, say });
  } catch (error) {
    store.close();
    const why = `The conversations in ${stateFolder()} cannot be opened (${(error as Error).message})`;
    if (continues || resumes !== undefined)
      return { problem: `${why}. Make the folder writable, or set XDG_STATE_HOME to another one.` };
    say(`${why}, so this one is not kept.`);
    return unkept();
  }
}

function unkept(): Conversation {
  return {
    id: randomUUID(),
    state: undefined,
    blobs: undefined,
    save: () => Promise.resolve(),
    beginTurn: () => Promise.resolve(),
    recordChange: () => Promise.resolve(),
    undo: () => Promise.resolve(undefined),
    tidy: () => Promise.resolve(),
    drop: () => Promise.resolve(),
    close() {},
  };
}

function stored(
  store: Store,
  {
    id,
    isNew,
    folder,
    state,
    say,
  }: { id: string; isNew: boolean; folder: string; state: Run['state']; say: (text: string) => void },
): Conversation {
  let hasFailed = false;
  let isEmpty = isNew;
  let turn: number | undefined;
  return {
    id,
    state,
    blobs: store.blobs,
    async save(next) {
      isEmpty &&= next === undefined;
      try {
        await store.save(id, { cwd: folder, state: next });
      } catch (error) {
        if (!hasFailed)
          say(`The conversation cannot be kept (${(error as Error).message}); --continue will miss this turn.`);
        hasFailed = true;
      }
    },
    async beginTurn() {
      try {
        turn = await store.snapshots.beginTurn(id);
      } catch (error) {
        turn = undefined;
        say(`Changes of this turn cannot be undone later (${(error as Error).message}).`);
      }
    },
    async recordChange(change) {
      isEmpty = false;
      if (turn !== undefined) await store.snapshots.record(id, turn, change);
    },
    undo: () => store.snapshots.undo(id),
    async tidy() {
      try {
        await store.collectWhenDue(TIDY_LONGEST);
      } catch {
        // room on the disk is no concern of a turn that is over; the next day tries again
      }
    },
    async drop() {
      try {
        if (isEmpty) await store.remove(id);
      } catch {
        // a row that stays is listed nowhere
      }
    },
    close: () => store.close(),
  };
}
