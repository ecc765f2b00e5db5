/** One replacement, and where it is in the text before, in characters. */
export interface EditPlace {
  from: number;
  to: number;
  newText: string;
}

/** Lines around a change that a hunk shows. */
const CONTEXT = 3;

/** Puts the edits in place, each against the text as it was before all of them. Tells the first problem instead when there is one. */
export function applyEdits(
  text: string,
  edits: readonly { oldText: string; newText: string }[],
): { text: string; places: EditPlace[] } | { problem: string } {
  if (edits.length === 0) return { problem: 'there is no edit' };
  const places: EditPlace[] = [];
  for (const [index, { oldText, newText }] of edits.entries()) {
    const which = edits.length === 1 ? 'the old text' : `the old text of edit ${index + 1}`;
    if (oldText === '') return { problem: `${which} is empty` };
    const from = text.indexOf(oldText);
    if (from < 0) return { problem: `${which} is not in the file` };
    if (text.includes(oldText, from + 1))
      return { problem: `${which} is in the file more than once; give more of what is around it` };
    places.push({ from, to: from + oldText.length, newText });
  }
  places.sort((one, other) => one.from - other.from);
  if (places.some((place, index) => index > 0 && place.from < places[index - 1]!.to))
    return { problem: 'two edits overlap' };
  let result = '';
  let at = 0;
  for (const { from, to, newText } of places) {
    result += text.slice(at, from) + newText;
    at = to;
  }
  result += text.slice(at);
  return result === text ? { problem: 'the edits change nothing' } : { text: result, places };
}

interface Region {
  /** Lines before, counted from 0; `to` is the one after the last. */
  from: number;
  to: number;
  newLines: string[];
}

/** The changes as hunks of a unified diff, with the first line that is different afterwards. Pure. */
export function hunksOf(before: string, places: readonly EditPlace[]): { text: string; firstChangedLine: number } {
  const lines = before.split('\n');
  const groups: Region[][] = [];
  for (const region of regionsOf(before, places)) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && region.from - last.to <= 2 * CONTEXT) groups.at(-1)!.push(region);
    else groups.push([region]);
  }
  let shift = 0;
  const text = groups.map(group => {
    const from = Math.max(0, group[0]!.from - CONTEXT);
    const to = Math.min(lines.length, group.at(-1)!.to + CONTEXT);
    const body: string[] = [];
    let at = from;
    let grown = 0;
    for (const region of group) {
      body.push(...lines.slice(at, region.from).map(line => ` ${line}`));
      body.push(
        ...lines.slice(region.from, region.to).map(line => `-${line}`),
        ...region.newLines.map(line => `+${line}`),
      );
      grown += region.newLines.length - (region.to - region.from);
      at = region.to;
    }
    body.push(...lines.slice(at, to).map(line => ` ${line}`));
    const head = `@@ -${from + 1},${to - from} +${from + 1 + shift},${to - from + grown} @@`;
    shift += grown;
    return `${head}\n${body.join('\n')}\n`;
  });
  return { text: text.join(''), firstChangedLine: (groups[0]?.[0]?.from ?? 0) + 1 };
}

/** Whole lines that change; edits in one line are one region. */
function regionsOf(before: string, places: readonly EditPlace[]): Region[] {
  const lineAt = (position: number) => before.slice(0, position).split('\n').length - 1;
  const lineStart = (position: number) => before.lastIndexOf('\n', position - 1) + 1;
  const lineEnd = (position: number) => {
    const end = before.indexOf('\n', position);
    return end < 0 ? before.length : end;
  };
  const regions: (Region & { end: number; text: string })[] = [];
  for (const { from, to, newText } of places) {
    const last = regions.at(-1);
    // An old text that ends with a line end changes no line after it, unless what replaces it has no line end.
    const end = lineEnd(to);
    if (last !== undefined && lineAt(from) < last.to) {
      last.text = last.text.slice(0, last.text.length - (last.end - from)) + newText + before.slice(to, end);
      last.to = Math.max(last.to, lineAt(end) + 1);
      last.end = end;
      continue;
    }
    const start = lineStart(from);
    const text = before.slice(start, from) + newText + before.slice(to, end);
    regions.push({ from: lineAt(from), to: lineAt(end) + 1, newLines: [], end, text });
  }
  return regions.map(({ from, to, text }) => ({ from, to, newLines: text.split('\n') }));
}
