import { create } from '@bufbuild/protobuf';
import { FileDiffSchema, FileDiff_ChunkSchema } from '@tandem/protocol/aiserver';
import type { FileDiff } from '@tandem/protocol/aiserver';

/** Reads the output of `git diff` into differences by file. A file that is only on one side has `/dev/null` on the other. Pure. */
export function parseDiff(text: string): FileDiff[] {
  const diffs: FileDiff[] = [];
  let diff: FileDiff | undefined;
  let chunk: FileDiff['chunks'][number] | undefined;
  let oldLeft = 0;
  let newLeft = 0;
  for (const line of text.split('\n')) {
    const inChunk = chunk !== undefined && (oldLeft > 0 || newLeft > 0 || line.startsWith('\\'));
    if (inChunk && diff !== undefined && chunk !== undefined) {
      if (line.startsWith('+')) {
        newLeft--;
        diff.added++;
      } else if (line.startsWith('-')) {
        oldLeft--;
        diff.removed++;
      } else if (!line.startsWith('\\')) {
        oldLeft--;
        newLeft--;
      }
      chunk.lines.push(line);
      chunk.content += chunk.content === '' ? line : `\n${line}`;
      continue;
    }
    if (line.startsWith('diff --git ')) {
      diff = create(FileDiffSchema, namesOf(line));
      diffs.push(diff);
      chunk = undefined;
    }
    if (diff === undefined) continue;
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (head !== null) {
      oldLeft = Number(head[2] ?? 1);
      newLeft = Number(head[4] ?? 1);
      const lines = { oldStart: Number(head[1]), oldLines: oldLeft, newStart: Number(head[3]), newLines: newLeft };
      chunk = create(FileDiff_ChunkSchema, lines);
      diff.chunks.push(chunk);
    } else if (line.startsWith('--- ')) diff.from = sideOf(line.slice(4), 'a/');
    else if (line.startsWith('+++ ')) diff.to = sideOf(line.slice(4), 'b/');
    else if (line.startsWith('rename from ')) diff.from = unquote(line.slice(12));
    else if (line.startsWith('rename to ')) diff.to = unquote(line.slice(10));
    else if (line.startsWith('new file')) diff.from = '/dev/null';
    else if (line.startsWith('deleted file')) diff.to = '/dev/null';
  }
  return diffs;
}

/** A file that no commit knows; without text (binary, too long) it has no chunks. */
export function addedFile(path: string, text: string | undefined): FileDiff {
  const diff = create(FileDiffSchema, { from: '/dev/null', to: path });
  if (text === undefined || text === '') return diff;
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n').map(line => `+${line}`);
  diff.added = lines.length;
  diff.chunks = [
    create(FileDiff_ChunkSchema, { content: lines.join('\n'), lines, newStart: 1, newLines: lines.length }),
  ];
  return diff;
}

/** The names of the first line; those of the lines below win, where there are any. */
function namesOf(line: string): { from: string; to: string } {
  const rest = line.slice('diff --git '.length);
  const quoted = /^"((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$/.exec(rest);
  if (quoted !== null) return { from: sideOf(`"${quoted[1]}"`, 'a/'), to: sideOf(`"${quoted[2]}"`, 'b/') };
  // Both names are the same here, or else lines below tell them: half of the rest is one of them.
  const half = rest.slice(0, (rest.length - 1) / 2);
  return { from: sideOf(half, 'a/'), to: sideOf(half, 'a/') };
}

function sideOf(name: string, prefix: string): string {
  const plain = unquote(name.replace(/\t$/, ''));
  return plain.startsWith(prefix) ? plain.slice(prefix.length) : plain;
}

/** Git quotes names with control characters or quotes as C does. */
function unquote(name: string): string {
  if (!name.startsWith('"')) return name;
  const SIGNS: Record<string, string> = {
    n: '\n',
    t: '\t',
    r: '\r',
    '"': '"',
    '\\': '\\',
    a: '\x07',
    b: '\b',
    f: '\f',
    v: '\v',
  };
  const text = name
    .slice(1, -1)
    .replace(/\\([0-7]{3}|.)/g, (_all, sign: string) =>
      /^[0-7]{3}$/.test(sign) ? String.fromCharCode(Number.parseInt(sign, 8)) : (SIGNS[sign] ?? sign),
    );
  return /[^\x00-\xff]/.test(text) ? text : Buffer.from(text, 'latin1').toString('utf8');
}
