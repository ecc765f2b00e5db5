import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { meetsTarget, ratioOf, spreadOf } from './figure.ts';

const FILE = fileURLToPath(new URL('baseline.json', import.meta.url));

/** What is kept of a figure, and what `--json` prints of it. */
export interface Summary {
  readonly name: string;
  readonly workload: string;
  readonly unit: string;
  readonly ours: { readonly median: number; readonly least: number; readonly most: number };
  readonly limit?: { readonly what: string; readonly median: number; readonly least: number; readonly most: number };
  readonly ratio?: { readonly median: number; readonly least: number; readonly most: number };
  readonly target?: Figure['target'];
  readonly reached?: boolean;
  readonly notes?: readonly string[];
}

export function summaryOf(figure: Figure): Summary {
  const { name, workload, unit, ours, limit, target, notes } = figure;
  const ratio = ratioOf(figure);
  const reached = meetsTarget(figure);
  return {
    name,
    workload,
    unit,
    ours: spreadOf(ours),
    ...(limit && { limit: { what: limit.what, ...spreadOf(limit.values) } }),
    ...(ratio && { ratio }),
    ...(target && { target }),
    ...(reached !== undefined && { reached }),
    ...(notes && { notes }),
  };
}

/** The figures that were saved last, by name; empty when none were. */
export function readBaseline(): Map<string, Summary> {
  let text: string;
  try {
    text = readFileSync(FILE, 'utf8');
  } catch {
    return new Map(); // nothing was saved yet
  }
  return new Map((JSON.parse(text) as Summary[]).map(one => [one.name, one]));
}

/** Replaces the saved figures of the same names; the others stay. */
export function saveBaseline(summaries: readonly Summary[]): void {
  const all = readBaseline();
  for (const one of summaries) all.set(one.name, one);
  writeFileSync(FILE, `${JSON.stringify([...all.values()], undefined, 2)}\n`);
}

/**
 * How a figure stands to the saved one, in a line. The ratio is compared where there is one, unless the target is of ours alone: another
 * machine moves both sides of a ratio.
 */
export function compareToBaseline(now: Summary, before: Summary | undefined): string | undefined {
  if (!before) return undefined;
  const isOwn = now.target !== undefined && 'mostOurs' in now.target;
  const isRatio = !isOwn && now.ratio !== undefined && before.ratio !== undefined;
  const [is, was] = isRatio ? [now.ratio!.median, before.ratio!.median] : [now.ours.median, before.ours.median];
  const change = Math.round((is / was - 1) * 100);
  return `  saved  ${isRatio ? 'ratio' : now.unit} ${was.toPrecision(3)}, now ${is.toPrecision(3)} (${change < 0 ? '' : '+'}${change} %)`;
}
