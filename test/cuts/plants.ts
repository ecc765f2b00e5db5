import { FLAG_END_STREAM } from '@tandem/protocol';
import { KvBridge } from '../../packages/server/src/bridge/kv.ts';
import { splitFrames } from '../../packages/server/src/stream/frame-bytes.ts';
import type { FrameSink } from '../../packages/server/src/stream/downlink.ts';
import type { Store } from '../../packages/server/src/store/port.ts';

/** A fault that is put into a play on purpose, around the server. */
export interface Plant {
  /** What the play must say of it. */
  readonly caught: RegExp;
  /** Whether it shows only when something is cut. */
  readonly needsCut: boolean;
  sink?(sink: FrameSink): FrameSink;
  store?(store: Store): Store;
  /** Changes a part of the server for one play; the returned function changes it back. */
  install?(): () => void;
}

/** Puts frames in place of each frame that goes to the client. */
const rewriting = (sink: FrameSink, rewrite: (frame: Uint8Array) => Uint8Array[]): FrameSink => ({
  write: (frames, written) => sink.write(splitFrames(frames).flatMap(rewrite), written),
  end: () => sink.end(),
  drop: () => sink.drop(),
  onDrain: call => sink.onDrain(call),
});

const isEnd = (frame: Uint8Array) => (frame[0]! & FLAG_END_STREAM) !== 0;

/** The faults that the harness must find. */
export const plants: Readonly<Record<string, Plant>> = {
  'checkpoint before its blobs are acknowledged': {
    caught: /before blob \w+ \(.+\) was acknowledged/,
    needsCut: false,
    install() {
      const { set } = KvBridge.prototype;
      KvBridge.prototype.set = function (id, data) {
        set.call(this, id, data).catch(() => {}); // nobody waits for it: that is the fault
        return Promise.resolve();
      };
      return () => (KvBridge.prototype.set = set);
    },
  },
  'a question asked twice': {
    caught: /asked twice on one stream/,
    needsCut: false,
    sink: sink => rewriting(sink, frame => (frame[5] === EXEC_TAG ? [frame, frame] : [frame])),
  },
  'a ledger that forgets what it wrote': {
    caught: /asked again though its result was acknowledged/,
    needsCut: true,
    store: store => ({ ...store, ledger: { ...store.ledger, execRecords: async () => [] } }),
  },
  'an acknowledgement without a write': {
    caught: /asked again though its result was acknowledged/,
    needsCut: true,
    store: store => ({ ...store, ledger: { ...store.ledger, recordExec: async () => {} } }),
  },
  'a result of an earlier command': {
    caught: /the result of call_\d+ is of run 0; acknowledged was run 1/,
    needsCut: true,
    store: store => ({
      ...store,
      ledger: {
        ...store.ledger,
        async recordExec(scope, record) {
          await store.ledger.recordExec(scope, { ...record, bytes: replaceText(record.bytes, '(run 1)', '(run 0)') });
        },
      },
    }),
  },
  'a second end frame': {
    caught: /end frame number 2/,
    needsCut: false,
    sink: sink => rewriting(sink, frame => (isEnd(frame) ? [frame, frame] : [frame])),
  },
  'a heartbeat after the end': {
    caught: /after the end frame/,
    needsCut: false,
    sink: sink => rewriting(sink, frame => (isEnd(frame) ? [frame, HEARTBEAT] : [frame])),
  },
  'a rewritten beginning': {
    caught: /of a model call is not the one that it was/,
    needsCut: true,
    store: store => ({
      ...store,
      blobs: {
        ...store.blobs,
        async get(scope, id) {
          const data = await store.blobs.get(scope, id);
          return data && replaceText(data, 'Operating system: linux', 'Operating system: Linux');
        },
      },
    }),
  },
};

/** The first byte of a message that asks for an exec: its field, with a length behind it. */
const EXEC_TAG = (2 << 3) | 2;
/** An `interaction_update` with an empty heartbeat. */
const HEARTBEAT = Uint8Array.of(0, 0, 0, 0, 4, 0x0a, 2, 0x6a, 0);

/** The same bytes with one text for another of its length. */
function replaceText(bytes: Uint8Array, text: string, by: string): Uint8Array {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(text);
  if (at < 0) return bytes;
  const changed = Uint8Array.from(bytes);
  changed.set(new TextEncoder().encode(by), at);
  return changed;
}
