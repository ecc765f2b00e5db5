/** What the headers of a stream's requests say (R9), read once at the edge. */
export interface RequestHeaders {
  /** `x-original-request-id`: this is a new attempt of that request (R15). */
  readonly originalRequestId: string | undefined;
  /** `x-cursor-agent-allowed-tools`: names of cards; an empty set allows none. */
  readonly allowedTools: ReadonlySet<string> | undefined;
  /** `x-cursor-agent-exclude-tools`. */
  readonly excludedTools: ReadonlySet<string> | undefined;
  /** `x-blob-encryption-key`: the client's key for data at rest, 32 bytes. */
  readonly sealKey: Uint8Array | undefined;
  /** `x-cursor-client-type` and version, for the log. */
  readonly client: string | undefined;
}

type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

const text = (headers: RawHeaders, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value.join(',') : value;
};

/** A list of card names; present and empty is an empty list, absent is none at all. */
function names(value: string | undefined): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined;
  return new Set(
    value
      .split(',')
      .map(name => name.trim())
      .filter(name => name !== ''),
  );
}

export function readRequestHeaders(headers: RawHeaders): RequestHeaders {
  const key = text(headers, 'x-blob-encryption-key');
  const type = text(headers, 'x-cursor-client-type');
  const version = text(headers, 'x-cursor-client-version');
  return {
    originalRequestId: text(headers, 'x-original-request-id') || undefined,
    allowedTools: names(text(headers, 'x-cursor-agent-allowed-tools')),
    excludedTools: names(text(headers, 'x-cursor-agent-exclude-tools')),
    sealKey: key !== undefined && /^[0-9a-f]{64}$/i.test(key) ? Buffer.from(key, 'hex') : undefined,
    client: type ? `${type} ${version ?? ''}`.trim().slice(0, 100) : undefined,
  };
}
