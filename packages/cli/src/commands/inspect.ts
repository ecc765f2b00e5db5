import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import type { CaptureKind } from '../inspect/capture-kind.ts';
import { detectCapture } from '../inspect/capture-kind.ts';
import type { Encoding } from '../inspect/decompression.ts';
import { decompress, isGzip } from '../inspect/decompression.ts';
import { inspectAppend, inspectEnvelopes } from '../inspect/frame-json.ts';
import { plainJson, plainText } from '../render/plain-text.ts';
import type { Surroundings } from '../surroundings.ts';
import { writeTo } from '../surroundings.ts';

/** The flags of `tandem inspect`, as they were given. */
export interface InspectFlags {
  readonly as?: CaptureKind;
  readonly encoding?: Encoding;
  readonly full?: boolean;
}

/** The longest capture: it is held in memory whole. */
const CAPTURE_BYTES = 1024 * 1024 * 1024;

const NAMES: Readonly<Record<CaptureKind, string>> = {
  sse: 'an answer of RunSSE (--as sse)',
  append: 'a BidiAppend (--as append)',
  request: 'a request of RunSSE (--as request)',
};

/**
 * Shows a captured body: one JSON object a line for each frame, in the shape of §1.2. What could be decoded is shown even when the
 * rest is broken; then stderr says what is, and where.
 *
 * @param file a path, or `-` for stdin
 */
export async function inspect(file: string, flags: InspectFlags, surroundings: Surroundings): Promise<ExitCode> {
  const { stdout, stderr, stop } = surroundings;
  const name = file === '-' ? 'stdin' : file;
  const say = (text: string) => stderr.write(`tandem: ${plainText(text)}\n`);
  let body: Uint8Array;
  try {
    body = await readCapture(file, surroundings);
  } catch (error) {
    say(`${name} cannot be read: ${(error as Error).message}.`);
    return EXIT.failed;
  }
  if (body.byteLength === 0) {
    say(`${name} is empty.`);
    return EXIT.failed;
  }
  if (isGzip(body)) {
    try {
      body = decompress(body, 'gzip').bytes;
    } catch (error) {
      say(`${name} begins as gzip does, but ${(error as Error).message}.`);
      return EXIT.failed;
    }
    say('The whole body is packed with gzip; this is what is inside.');
  }
  const kind = flags.as ?? detectCapture(body);
  if (kind === undefined) {
    say(
      `${name} is neither an answer of RunSSE nor a BidiAppend nor a request of RunSSE, going by its first byte. If it is, say so with --as.`,
    );
    return EXIT.failed;
  }
  if (flags.as === undefined) say(`Taking ${name} for ${NAMES[kind]}.`);

  const options = { encoding: flags.encoding, full: flags.full === true };
  let exitCode: ExitCode = EXIT.done;
  let isEnded = kind !== 'sse';
  for (const frame of kind === 'append' ? [inspectAppend(body, options)] : inspectEnvelopes(body, kind, options)) {
    if (stop.aborted) return EXIT.cancelled;
    if ('json' in frame) {
      isEnded ||= frame.json['endStream'] === true;
      await writeTo(stdout, `${plainJson(frame.json)}\n`);
    } else {
      say(`${name}, ${frame.where}: ${frame.problem}`);
      exitCode = EXIT.failed;
    }
  }
  if (!isEnded && exitCode === EXIT.done) say('There is no end frame: the capture stops before the stream did.');
  return exitCode;
}

async function readCapture(file: string, { cwd, stdin, stop }: Surroundings): Promise<Uint8Array> {
  if (file !== '-') {
    try {
      return await readFile(resolve(cwd, file), { signal: stop });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') throw new Error('there is no such file', { cause: error });
      if (code === 'EISDIR') throw new Error('it is a folder', { cause: error });
      throw error;
    }
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  const onStop = () => stdin.destroy();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    for await (const piece of stdin) {
      const buffer = Buffer.from(piece as Uint8Array | string);
      bytes += buffer.length;
      if (bytes > CAPTURE_BYTES) throw new Error(`it is longer than ${CAPTURE_BYTES / 1024 / 1024} MiB`);
      pieces.push(buffer);
    }
  } finally {
    stop.removeEventListener('abort', onStop);
  }
  return Buffer.concat(pieces);
}
