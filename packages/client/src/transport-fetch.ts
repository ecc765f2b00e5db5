import { readBody } from './transport.ts';
import type { Decompress, Transport, TransportAnswer } from './transport.ts';

/**
 * The transport over `fetch`: RunSSE down and BidiAppend up, in browsers and in Node. `fetch` is the platform's own unless another
 * is given. Codecs are those that the platform's DecompressionStream knows: gzip everywhere, br where it is named `brotli`.
 */
export function fetchTransport(options: { fetch?: typeof globalThis.fetch } = {}): Transport {
  const send = options.fetch ?? globalThis.fetch.bind(globalThis);
  return {
    duplex: false,
    codecs: platformCodecs(),
    async exchange(request): Promise<TransportAnswer> {
      if (request.body !== undefined && !(request.body instanceof Uint8Array)) {
        throw new TypeError('fetch sends whole bodies only');
      }
      const response = await send(request.url, {
        method: request.method,
        headers: request.headers,
        ...(request.body === undefined ? {} : { body: request.body as Uint8Array<ArrayBuffer> }),
        signal: request.signal,
        // A redirect would carry the bearer to an address that nobody named.
        redirect: 'error',
        cache: 'no-store',
        credentials: 'omit',
      });
      return {
        status: response.status,
        header: name => response.headers.get(name) ?? undefined,
        body: response.body === null ? nothing() : chunks(response.body),
      };
    },
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

// Browsers without async iteration over streams exist, so the reader is used by hand.
async function* chunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Closing a stream that already failed rejects with that same failure, which the reader has seen.
    await reader.cancel().catch(() => undefined);
  }
}

function platformCodecs(): ReadonlyMap<string, Decompress> {
  const codecs = new Map<string, Decompress>();
  for (const [wire, platform] of [
    ['gzip', 'gzip'],
    ['br', 'brotli'],
  ] as const) {
    if (typeof DecompressionStream === 'undefined') continue;
    try {
      new DecompressionStream(platform as CompressionFormat);
    } catch {
      continue; // this platform does not know the format, so it is not announced
    }
    codecs.set(wire, (data, maxBytes) => inflate(platform as CompressionFormat, data, maxBytes));
  }
  return codecs;
}

async function inflate(format: CompressionFormat, data: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const stream = new Blob([data as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream(format));
  return await readBody(chunks(stream), maxBytes);
}
