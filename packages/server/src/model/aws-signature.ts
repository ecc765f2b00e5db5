import { createHash, createHmac } from 'node:crypto';

/** Who signs, and for which region of Amazon Bedrock. */
export interface AwsKey {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

const hash = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();

/**
 * The headers of a POST with an AWS signature, version 4.
 *
 * @param now milliseconds since the epoch; AWS takes a signature for five minutes
 * @param service the name of the service that is called; Bedrock's runtime signs as `bedrock`
 */
export function signAws(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  { key, now, service = 'bedrock' }: { key: AwsKey; now: number; service?: string },
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const scope = `${time.slice(0, 8)}/${key.region}/${service}/aws4_request`;
  const signed: Record<string, string> = {
    ...headers,
    'x-amz-date': time,
    ...(key.sessionToken !== undefined && { 'x-amz-security-token': key.sessionToken }),
  };
  const all = Object.entries({ ...signed, host: url.host }).map(
    ([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')] as const,
  );
  const sorted = all.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = sorted.map(([name]) => name).join(';');
  const canonical = [
    'POST',
    // each segment of the path is encoded once more than it stands in the address
    url.pathname.split('/').map(encodeStrictly).join('/'),
    [...url.searchParams]
      .map(pair => pair.map(encodeStrictly).join('='))
      .toSorted()
      .join('&'),
    ...sorted.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    hash(body),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope, hash(canonical)].join('\n');
  const day = hmac(`AWS4${key.secretAccessKey}`, time.slice(0, 8));
  const signer = hmac(hmac(hmac(day, key.region), service), 'aws4_request');
  const signature = hmac(signer, text).toString('hex');
  signed['authorization'] =
    `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return signed;
}

function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
