import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export type Encoding = 'gzip' | 'br' | 'identity';

/** What one compressed payload may unpack to: several times the largest message that a server takes by default. */
const UNPACKED_BYTES = 256 * 1024 * 1024;

/** Whether bytes begin as gzip does. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * Unpacks a payload by the encoding that is named; else by gzip when it begins so, and by brotli when it does not.
 * @throws Error that names the encodings that were tried
 */
export function decompress(bytes: Uint8Array, named: Encoding | undefined): { bytes: Uint8Array; encoding: Encoding } {
  const encoding = named ?? (isGzip(bytes) ? 'gzip' : 'br');
  if (encoding === 'identity') return { bytes, encoding };
  try {
    const unpack = encoding === 'gzip' ? gunzipSync : brotliDecompressSync;
    return { bytes: unpack(bytes, { maxOutputLength: UNPACKED_BYTES }), encoding };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw new Error(`its payload unpacks to more than ${UNPACKED_BYTES / 1024 / 1024} MiB`, { cause: error });
    const hint = named === undefined ? '; name the encoding with --encoding' : '';
    throw new Error(`its payload is not ${named ?? 'gzip and not br'} (${message})${hint}`, { cause: error });
  }
}
