import { limits } from './limits.ts';

/** Where the client keeps the blobs that a server stores with it (§20). Ids are 32 raw bytes, the SHA-256 of the data (R39). */
export interface BlobStore {
  /** The data, or undefined when the blob is not here. */
  get(id: Uint8Array): Promise<Uint8Array | undefined>;
  /** Keeps the data; the caller has checked the hash. Resolves when it is safe, rejects when it cannot be kept. */
  set(id: Uint8Array, data: Uint8Array): Promise<void>;
}

/** The id of `data`: its SHA-256, 32 bytes (R39). */
export async function hashBlob(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', data as Uint8Array<ArrayBuffer>));
}

/** An id as text, for a map's key: two lower-case hex digits a byte. */
export function blobText(id: Uint8Array): string {
  let text = '';
  for (const byte of id) text += (byte < 16 ? '0' : '') + byte.toString(16);
  return text;
}

/** A store that forgets with the process. It holds `maxBytes` of data (256 MiB by default) and refuses more. */
export function memoryBlobStore(maxBytes: number = limits.memoryBlobBytes): BlobStore {
  const blobs = new Map<string, Uint8Array>();
  let held = 0;
  return {
    get: id => Promise.resolve(blobs.get(blobText(id))),
    set(id, data) {
      const key = blobText(id);
      if (blobs.has(key)) return Promise.resolve();
      if (held + data.length > maxBytes) {
        return Promise.reject(new Error(`the blobs in memory would pass ${maxBytes} bytes; use a store on disk`));
      }
      held += data.length;
      // The data is a view on a network buffer: without a copy the whole buffer would stay.
      blobs.set(key, data.slice());
      return Promise.resolve();
    },
  };
}
