import type { RecordedRequest } from './provider.ts';

/**
 * The messages of a request to the provider as the bytes that went over the wire, without the closing bracket, so that the messages
 * of a later request can start with them (R47).
 */
export function sentMessages({ text, body }: RecordedRequest): string {
  const list = JSON.stringify(body.messages);
  // what was parsed and written again must be what stood there, or this would compare something else than bytes
  if (!text.includes(`"messages":${list}`))
    throw new Error('the messages of the request are not written the way JSON.stringify does');
  return list.slice(0, -1);
}

/** The first pair of requests of which the later does not start with the earlier; undefined when all do. */
export function brokenPrefix(requests: readonly RecordedRequest[]): string | undefined {
  for (let i = 1; i < requests.length; i++) {
    const [before, after] = [sentMessages(requests[i - 1]!), sentMessages(requests[i]!)];
    if (after.startsWith(before)) continue;
    let at = 0;
    while (before[at] === after[at]) at++;
    return `request ${i} leaves request ${i - 1} at ${at}: …${before.slice(at - 40, at + 80)} / …${after.slice(at - 40, at + 80)}`;
  }
  return undefined;
}
