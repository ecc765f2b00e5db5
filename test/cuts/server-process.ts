import { DEFAULT_LIMITS } from '../../packages/server/src/config/limits.ts';
import type { Catalogue } from '../../packages/server/src/model/port.ts';
import type { Identity } from '../../packages/server/src/identity.ts';
import type { Log } from '../../packages/server/src/observe/log.ts';
import type { ExecRecord, RunRecord, Store } from '../../packages/server/src/store/port.ts';
import { Registry } from '../../packages/server/src/stream/registry.ts';
import type { Clock } from '@tandem/server';

/** A promise of a process that is no more. */
const never = (): Promise<never> => new Promise(() => {});

/** What a play is told of a server's store, and where it may interfere: a promise that is given back is waited for. */
export interface WriteHooks {
  write(side: 'before' | 'after', name: keyof typeof WRITES, details: unknown): Promise<void> | undefined;
}

/** One write that was made. */
export interface StoreWrite {
  readonly name: keyof typeof WRITES;
  readonly details: unknown;
}

/** Makes a write of another play again, for this owner. */
export async function writeAgain(
  store: Store,
  owner: string,
  name: keyof typeof WRITES,
  details: unknown,
): Promise<void> {
  if (name === 'put') await store.blobs.put({ owner }, details as { id: Uint8Array; data: Uint8Array }[]);
  else if (name === 'recordExec') await store.ledger.recordExec({ owner }, details as ExecRecord);
  else await store.ledger.recordRun({ owner }, details as RunRecord);
}

const WRITES = { recordExec: true, recordRun: true, put: true } as const;

/**
 * One life of a server without its sockets. `kill` is the end of the process: its timers never fire, its hold on the store is
 * gone, whatever its promises still wait for never comes.
 */
export class ServerProcess {
  readonly registry: Registry;
  isAlive = true;
  readonly #cancels = new Set<() => void>();

  constructor(options: {
    store: Store;
    clock: Clock;
    identity: Identity;
    log: Log;
    catalogue: (process: ServerProcess) => Catalogue;
    hooks: WriteHooks;
  }) {
    const { store, identity, hooks } = options;
    const clock = this.#ownClock(options.clock);
    const log = this.#ownLog(options.log);
    this.registry = new Registry({
      services: {
        catalogue: options.catalogue(this),
        store: this.#ownStore(store, hooks),
        clock,
        identity,
        log,
        callLimits: DEFAULT_LIMITS,
      },
      limits: { messageBytes: 64 * 1024 * 1024, placeholderMs: 30_000, readerGraceMs: 15_000 },
    });
  }

  kill(): void {
    this.isAlive = false;
    for (const cancel of this.#cancels) cancel();
  }

  #ownClock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      after: (ms, call) => {
        if (!this.isAlive) return () => {};
        const cancel = clock.after(ms, () => {
          this.#cancels.delete(cancel);
          call();
        });
        this.#cancels.add(cancel);
        return () => {
          this.#cancels.delete(cancel);
          cancel();
        };
      },
    };
  }

  #ownLog(log: Log): Log {
    const line =
      (level: keyof Log): Log['info'] =>
      (fields, text) => {
        if (this.isAlive) log[level](fields, text);
      };
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  }

  #ownStore(store: Store, hooks: WriteHooks): Store {
    const read = async <T>(work: () => Promise<T>): Promise<T> => {
      const found = this.isAlive ? await work() : await never();
      return this.isAlive ? found : never();
    };
    const write = async (name: keyof typeof WRITES, details: unknown, work: () => Promise<void>): Promise<void> => {
      if (this.isAlive) await hooks.write('before', name, details);
      if (this.isAlive) await work();
      if (this.isAlive) await hooks.write('after', name, details);
      if (!this.isAlive) await never();
    };
    const { blobs, ledger } = store;
    return {
      secret: store.secret,
      blobs: {
        get: (scope, id) => read(() => blobs.get(scope, id)),
        put: (scope, many) => write('put', many, () => blobs.put(scope, many)),
      },
      ledger: {
        recordExec: (scope, record) => write('recordExec', record, () => ledger.recordExec(scope, record)),
        execRecords: (scope, conversationId, callId) => read(() => ledger.execRecords(scope, conversationId, callId)),
        recordRun: (scope, run) => write('recordRun', run, () => ledger.recordRun(scope, run)),
        runs: (scope, conversationId) => read(() => ledger.runs(scope, conversationId)),
      },
      conversations: store.conversations,
      usage: store.usage,
      close: () => Promise.resolve(),
    };
  }
}
