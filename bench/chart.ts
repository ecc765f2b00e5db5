/** Draws the saved figures that have a target as docs/figures.svg: how near each comes, in its own unit. */
import { writeFileSync } from 'node:fs';
import type { Summary } from './baseline.ts';
import { readBaseline } from './baseline.ts';

const ROW = 44;
const LEFT = 300;
const WIDTH = 360;
const RIGHT = 240;
/** Longer bars are cut: their text says how far they go. */
const MOST_SHOWN = 2;

interface Bar {
  readonly name: string;
  /** The part of what is allowed that is used; for a least it is the least over what was reached. 1 is the target. */
  readonly part: number;
  readonly text: string;
}

function barOf({ name, ours, ratio, target, unit }: Summary): Bar | undefined {
  if (!target) return undefined;
  if ('mostOurs' in target) {
    const text = `${ours.median.toPrecision(3)} of ${target.mostOurs} ${unit}`;
    return { name, part: ours.median / target.mostOurs, text };
  }
  if (!ratio) return undefined;
  const [wanted, word] = 'atLeast' in target ? [target.atLeast, 'at least'] : [target.atMost, 'at most'];
  const part = 'atLeast' in target ? wanted / ratio.median : ratio.median / wanted;
  return { name, part, text: `${ratio.median.toFixed(2)} × the limit, ${word} ${wanted}` };
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function draw(bars: readonly Bar[]): string {
  const height = bars.length * ROW + 40;
  const scale = WIDTH / MOST_SHOWN;
  const line = LEFT + scale;
  const rows = bars.map(({ name, part, text }, index) => {
    const y = 30 + index * ROW;
    const colour = part <= 1 ? '#2f855a' : '#c05621';
    return [
      `<text x="${LEFT - 10}" y="${y + 17}" text-anchor="end">${escape(name)}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${(Math.min(part, MOST_SHOWN) * scale).toFixed(1)}" height="24" fill="${colour}"/>`,
      `<text x="${LEFT + WIDTH + 10}" y="${y + 17}">${escape(text)}</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + RIGHT}" height="${height}" font-family="sans-serif" font-size="13" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
<text x="${line}" y="18" text-anchor="middle">target</text>
${rows.join('\n')}
<line x1="${line}" y1="24" x2="${line}" y2="${height - 8}" stroke="#222" stroke-dasharray="4 3"/>
</svg>
`;
}

const bars = [...readBaseline().values()].flatMap(summary => barOf(summary) ?? []);
writeFileSync(new URL('../docs/figures.svg', import.meta.url), draw(bars));
