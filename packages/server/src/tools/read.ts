import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ReadToolCallSchema } from '@tandem/protocol/agent';
import type { ReadResult, ReadSuccess, ReadToolResultSchema } from '@tandem/protocol/agent';
import type { TextPart } from '@tandem/protocol/message';
import { z } from 'zod';
import { imagePart } from './image-part.ts';
import { imageType } from './image-type.ts';
import { READ_CHARACTERS } from './limits.ts';
import { numberedText } from './numbered-text.ts';
import type { FileLines } from './numbered-text.ts';
import { failure, success, withFailures } from './outcome.ts';
import type { Card, Tool, ToolFacts, ToolOutcome } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const schema = z.object({
  path: z.string().min(1).describe('File to read, absolute or from the workspace folder.'),
  offset: z
    .int32()
    .optional()
    .describe('Line to begin with, counted from 1; a negative number counts from the end. Default: the first.'),
  limit: z.int32().min(1).optional().describe('How many lines to read. Default: all.'),
});
type ReadArguments = z.infer<typeof schema>;

function readCard(
  args: Partial<ReadArguments>,
  facts: ToolFacts,
  result?: MessageInitShape<typeof ReadToolResultSchema>['result'],
): Card {
  const { path = '', offset, limit } = args;
  return {
    case: 'readToolCall',
    value: create(ReadToolCallSchema, {
      args: { path: workspacePath(path, facts), offset, limit },
      ...(result ? { result: { result } } : {}),
    }),
  };
}

const errorOf = (errorMessage: string) => ({ case: 'error' as const, value: { errorMessage } });

/** Reads a file, or some of its lines: `exec.read`, text numbered `LINE|text`, images as parts (§10.2, R28). */
export const readTool: Tool<ReadArguments> = {
  name: 'Read',
  aliases: ['read_file', 'ReadFile', 'view', 'view_file', 'cat', 'open_file'],
  argumentAliases: {
    file_path: 'path',
    filePath: 'path',
    target_file: 'path',
    file: 'path',
    filename: 'path',
    start_line: 'offset',
    max_lines: 'limit',
  },
  card: 'readToolCall',
  description: [
    'Reads a file. Text comes back with line numbers as LINE|text; the numbers and the bar are not part of the file.',
    'Reads the whole file unless offset and limit say otherwise; the middle of a very long file is left out, and the result says which lines.',
    'Images are shown when the model takes images. A folder cannot be read: use Ls.',
  ].join(' '),
  schema,
  open: (args, { facts }) => readCard(args, facts),
  close: (args, message, { facts }) => readCard(args, facts, errorOf(message)),
  execute(args, context) {
    return withFailures(readTool, args, context, async () => {
      const { path, offset, limit } = args;
      const result = await context.exec.read({
        path: workspacePath(path, context.facts),
        toolCallId: context.callId,
        ...(offset ? { offset } : {}),
        // A read from the end comes whole and is cut here: only so is it known which line it begins with.
        ...(limit === undefined || (offset ?? 1) < 0 ? {} : { limit }),
      });
      if (result.result.case === 'success') return readSuccess(args, result.result.value, context.facts);
      const message = readProblem(path, result);
      return failure(readCard(args, context.facts, errorOf(message)), message);
    });
  },
};

/** Why a read gave no content, for the model. */
export function readProblem(path: string, { result }: ReadResult): string {
  switch (result.case) {
    case 'fileNotFound':
      return `File not found: ${result.value.path || path}`;
    case 'permissionDenied':
      return `Permission denied: ${result.value.path || path} cannot be read.`;
    case 'invalidFile':
      return `${result.value.path || path} cannot be read: ${result.value.reason || 'it is not a text file'}`;
    case 'rejected':
      return `The user did not allow reading ${result.value.path || path}.${result.value.reason ? ` ${result.value.reason}` : ''}`;
    case 'error':
      return `Reading ${result.value.path || path} failed: ${result.value.error || 'the client gave no reason'}`;
    default:
      return `Reading ${path} failed: the client sent a malformed result.`;
  }
}

function readSuccess(args: ReadArguments, file: ReadSuccess, facts: ToolFacts): ToolOutcome {
  const path = file.path || workspacePath(args.path, facts);
  const { output } = file;
  const shared = {
    path,
    totalLines: Math.max(0, file.totalLines),
    fileSize: Number(BigInt.asUintN(32, file.fileSize)),
    exceededLimit: file.truncated,
  };
  if (output.case === 'data') {
    const card = readCard(args, facts, { case: 'success', value: { ...shared, output } });
    return success(card, bytesContent(path, output.value, facts));
  }
  const content = output.value ?? '';
  const read = linesOf(content, args, file);
  if (typeof read === 'string') return failure(readCard(args, facts, errorOf(read)), read);
  const { first, lines } = read;
  const ranged = file.rangeApplied
    ? { readRange: { startLine: first, endLine: first + Math.max(lines.length - 1, 0) } }
    : {};
  const card = readCard(args, facts, {
    case: 'success',
    value: { ...shared, ...ranged, isEmpty: content === '', output: { case: 'content', value: content } },
  });
  return success(card, textContent(path, read, file));
}

function bytesContent(path: string, data: Uint8Array, facts: ToolFacts): ToolOutcome['content'] {
  if (Buffer.from(data.subarray(0, 5)).toString('latin1') === '%PDF-') {
    return `${path} is a PDF of ${data.length} bytes, and the client could not turn it into text.`;
  }
  const part = imagePart(data, path, facts);
  if (part.type === 'text') return part.text;
  const title: TextPart = { type: 'text', text: `${path} (${imageType(data)}, ${data.length} bytes)` };
  return [title, part];
}

/**
 * The lines that were asked for, or why there are none. A client may send the whole file although a range was asked (an offset
 * past the end does that), and may count the empty piece after the last line end as a line.
 */
function linesOf(content: string, args: ReadArguments, file: ReadSuccess): FileLines | string {
  const { offset = 1, limit } = args;
  const pieces = content.split('\n');
  const total = Math.max(file.totalLines, file.rangeApplied ? 0 : pieces.length);
  const wanted = offset < 0 ? firstFromEnd(offset, pieces, total, file) : Math.max(1, offset);
  if (!file.rangeApplied && wanted > total)
    return `${file.path || args.path} has ${total} lines; there is no line ${wanted}.`;
  const first = wanted;
  const asked = file.rangeApplied ? pieces : pieces.slice(wanted - 1);
  const lines = limit === undefined ? asked : asked.slice(0, limit);
  const reachesEnd = file.rangeApplied ? first + lines.length - 1 >= total : wanted - 1 + lines.length >= pieces.length;
  if (reachesEnd && lines.length > 1 && lines.at(-1) === '' && !file.truncated) lines.pop();
  return { first, lines };
}

/** The number of the first line of a read from the end: what came ends where the file ends. */
function firstFromEnd(offset: number, pieces: string[], total: number, file: ReadSuccess): number {
  if (file.rangeApplied) return Math.max(1, total - pieces.length + 1);
  const lines = pieces.at(-1) === '' ? total - 1 : total;
  return Math.max(1, lines + offset + 1);
}

function textContent(path: string, read: FileLines, file: ReadSuccess): string {
  const { first, lines } = read;
  if (lines.length === 1 && lines[0] === '' && file.totalLines <= 1) return `${path} is empty.`;
  const text = numberedText(read, READ_CHARACTERS);
  const last = first + lines.length - 1;
  if (file.truncated) {
    return `${text}\n(The client sent lines ${first} to ${last} only; the file has ${file.totalLines} lines. Read on with offset ${last + 1}.)`;
  }
  if (!file.rangeApplied || (first === 1 && last >= file.totalLines - 1)) return text;
  return `${text}\n(Lines ${first} to ${last} of ${file.totalLines}.)`;
}
