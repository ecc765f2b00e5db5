/** Texts in which providers say how long to wait, when they send no header. */
const IN_WORDS =
  /(?:retryDelay"?\s*:\s*"|(?:try again|retry) (?:in|after) )(\d+(?:\.\d+)?)\s*(ms|m|s|seconds?|minutes?)?/i;

/**
 * How long a provider asks to wait, in seconds, rounded up to hundredths; undefined when it does not say. Read from
 * `retry-after-ms`, `retry-after` (seconds or a date), else from its words.
 *
 * @param headers with lower-case names
 * @param now milliseconds since the epoch
 */
export function retryAfterSeconds(
  headers: Readonly<Record<string, string>>,
  words: string,
  now: number,
): number | undefined {
  const exact = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] && Number.isFinite(exact) && exact >= 0) return seconds(exact);
  const header = headers['retry-after']?.trim();
  if (header) {
    const number = Number(header);
    if (Number.isFinite(number)) return number >= 0 ? seconds(number * 1000) : undefined;
    const date = Date.parse(header);
    if (Number.isFinite(date)) return seconds(Math.max(0, date - now));
  }
  const said = IN_WORDS.exec(words.slice(0, 16_384));
  if (!said) return undefined;
  const unit = said[2]?.toLowerCase() ?? 's';
  const scale = unit === 'ms' ? 1 : unit.startsWith('m') ? 60_000 : 1_000;
  return seconds(Number(said[1]) * scale);
}

function seconds(ms: number): number {
  return Math.ceil(ms / 10) / 100;
}
