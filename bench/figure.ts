/** One thing that was measured, beside the limit it is held against in the same run. */
export interface Figure {
  readonly name: string;
  /** What was done, exactly enough to do it again. */
  readonly workload: string;
  readonly unit: string;
  /** One value a repetition. */
  readonly ours: readonly number[];
  /** The same work done by as little as can do it; absent where nothing comparable exists. */
  readonly limit?: { readonly what: string; readonly values: readonly number[] };
  /** What the ratio (ours / limit) should reach, or ours itself; absent for figures that are only reported. */
  readonly target?: Target;
  /** What else was seen, one line each: how busy the reader was, what the single steps took. */
  readonly notes?: readonly string[];
}

/** `atLeast` and `atMost` are of the ratio, `mostOurs` is in the figure's own unit. */
export type Target = { readonly atLeast: number } | { readonly atMost: number } | { readonly mostOurs: number };

/** The middle value and both ends. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}

/** Ours against the limit, repetition by repetition: both sides of a pair ran one after the other, so a busy machine hits both. */
export function ratioOf({ ours, limit }: Figure): Spread | undefined {
  return limit && spreadOf(ours.map((value, index) => value / limit.values[index]!));
}

/** Whether the target is met; undefined when there is none. */
export function meetsTarget(figure: Figure): boolean | undefined {
  const { target } = figure;
  if (!target) return undefined;
  if ('mostOurs' in target) return spreadOf(figure.ours).median <= target.mostOurs;
  const ratio = ratioOf(figure);
  if (!ratio) return undefined;
  return 'atLeast' in target ? ratio.median >= target.atLeast : ratio.median <= target.atMost;
}

const round = (value: number) =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : value >= 10 ? value.toFixed(1) : value.toFixed(2);
const spreadText = ({ median, least, most }: Spread) => `${round(median)} (${round(least)}–${round(most)})`;

/** A figure as lines for a terminal. */
export function printFigure(figure: Figure): string {
  const { name, workload, unit, ours, limit, target, notes = [] } = figure;
  const lines = [name, `  ${workload}`, `  ours   ${spreadText(spreadOf(ours))} ${unit}`];
  if (limit) lines.push(`  limit  ${spreadText(spreadOf(limit.values))} ${unit}: ${limit.what}`);
  const ratio = ratioOf(figure);
  if (ratio) lines.push(`  ratio  ${spreadText(ratio)}`);
  if (target) lines.push(`  target ${targetText(target, unit)}: ${meetsTarget(figure) ? 'reached' : 'MISSED'}`);
  return [...lines, ...notes.map(note => `  ${note}`)].join('\n');
}

function targetText(target: Target, unit: string): string {
  if ('mostOurs' in target) return `at most ${target.mostOurs} ${unit}`;
  return 'atLeast' in target ? `a ratio of at least ${target.atLeast}` : `a ratio of at most ${target.atMost}`;
}
