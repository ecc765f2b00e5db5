import type { FrameSink } from '../../packages/server/src/stream/downlink.ts';
import type { Store } from '../../packages/server/src/store/port.ts';

/** A fault that is put into a play on purpose, around the server. */
export interface Plant {
  sink?(sink: FrameSink): FrameSink;
  store?(store: Store): Store;
  /** Changes a part of the server for one play; the returned function changes it back. */
  install?(): () => void;
}
