/** One HTTP request of the client. */
export interface TransportRequest {
  method: 'GET' | 'POST';
  /** Absolute, without credentials. */
  url: string;
  headers: Record<string, string>;
  /** The whole body. A transport that is `duplex` also takes a body that goes on while the answer comes in. */
  body?: Uint8Array | AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}

/** The answer, as soon as its head is there. */
export interface TransportAnswer {
  status: number;
  /** A header's value by its lower-case name. */
  header(name: string): string | undefined;
  /** The body as it arrives. Leaving the loop early, or aborting the request, closes the connection. */
  body: AsyncIterable<Uint8Array>;
}

/** Undoes one compression; rejects when the data is damaged or grows beyond `maxBytes`. */
export type Decompress = (data: Uint8Array, maxBytes: number) => Promise<Uint8Array>;

/** How the client reaches a server. */
export interface Transport {
  /**
   * Whether request and answer may flow at the same time to the server at `baseUrl`, as `Run` needs (R1); else RunSSE and BidiAppend are
   * used. A function may connect to find out; when it rejects, the attempt that asked has failed.
   */
  readonly duplex: boolean | ((baseUrl: string, signal: AbortSignal) => Promise<boolean>);
  /** Codecs for frames by their name on the wire (`gzip`, `br`), in order of liking. They are announced to the server (R5). */
  readonly codecs: ReadonlyMap<string, Decompress>;
  /** Sends one request. Rejects when no answer came: refused, reset, aborted. Every HTTP status is an answer. */
  exchange(request: TransportRequest): Promise<TransportAnswer>;
}

/** The whole body, refused beyond `maxBytes`. */
export async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
