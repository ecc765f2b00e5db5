import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { plainJson, plainText } from '../render/plain-text.ts';
import { usageTable } from '../render/usage-table.ts';
import type { UsageReport } from '../render/usage-table.ts';
import { openPlace, placeProblem } from '../run/place.ts';
import type { Place, PlaceOptions } from '../run/place.ts';
import type { Surroundings } from '../surroundings.ts';
import { untilAborted, writeTo } from '../surroundings.ts';

/** The flags of `tandem usage`, as they were given. */
export interface UsageOptions extends PlaceOptions {
  readonly by?: UsageReport['by'];
  readonly since?: string;
  readonly until?: string;
  readonly conversation?: string;
  readonly output?: 'text' | 'json';
}

/** A report is one query of an index. */
const DEADLINE_MS = 10_000;

/** What model calls used and cost, of this machine's own runs or of a key at a server. */
export async function usage(options: UsageOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { stdout, stderr, stop } = surroundings;
  const say = (text: string) => stderr.write(`tandem: ${plainText(text)}\n`);
  const problem = placeProblem(options) ?? dayProblem('since', options.since) ?? dayProblem('until', options.until);
  if (problem !== undefined) {
    say(problem);
    return EXIT.usage;
  }
  const place = await openPlace(options, surroundings);
  if ('text' in place) {
    say(place.text);
    return place.exitCode;
  }
  try {
    const told = await Promise.race([askForUsage(place, options), untilAborted(stop)]);
    if (!told) return EXIT.cancelled;
    if ('refusal' in told) {
      say(told.refusal);
      return told.isMistake ? EXIT.usage : EXIT.failed;
    }
    await writeTo(stdout, options.output === 'json' ? `${plainJson(told)}\n` : usageTable(told));
    if (told.rows.length === 0 && options.output !== 'json') {
      const isBounded = options.since !== undefined || options.until !== undefined;
      say(isBounded ? 'No model call was made in that time.' : 'No model call was made yet.');
    }
    return EXIT.done;
  } finally {
    await place.close();
  }
}

function dayProblem(name: string, day: string | undefined): string | undefined {
  if (day === undefined || (/^\d{4}-\d\d-\d\d/.test(day) && !Number.isNaN(Date.parse(day)))) return undefined;
  return `--${name} takes a day such as 2026-12-01, and ${JSON.stringify(day)} is none.`;
}

type Refusal = { readonly refusal: string; readonly isMistake: boolean };

async function askForUsage(place: Place, options: UsageOptions): Promise<UsageReport | Refusal> {
  const url = new URL('/v1/usage', place.url);
  for (const name of ['by', 'since', 'until', 'conversation'] as const) {
    const value = options[name];
    if (value !== undefined) url.searchParams.set(name, value);
  }
  try {
    const response = await fetch(url, {
      headers: place.apiKey === undefined ? {} : { authorization: `Bearer ${place.apiKey}` },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const body = (await response.json()) as UsageReport & { message?: string };
    if (response.ok) return body;
    return { refusal: body.message ?? `${place.url} answered ${response.status}.`, isMistake: response.status === 400 };
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
    return { refusal: `The usage of ${place.url} cannot be had: ${reason}.`, isMistake: false };
  }
}
