import { readFileSync, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { PromptImage } from '@tandem/client';

/** A prompt with what it attaches: texts follow it, images go along. */
export type Attached =
  | {
      readonly prompt: string;
      readonly images: PromptImage[];
      /** What looked like a file and is none, each a sentence. */
      readonly notices: string[];
    }
  | { readonly problem: string };

/** A longer file is for the agent to read by its tools, piece by piece. */
const TEXT_BYTES = 256 * 1024;
/** Providers take no larger ones. */
const IMAGE_BYTES = 5 * 1024 * 1024;
/** More of them is a mistake. */
const FILES = 20;

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/** `@path` or `@"path with spaces"` at the beginning or after white space; punctuation at the end of a sentence is not its. */
const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]*[^\s".,;:!?)]))/g;

/**
 * Attaches the files that a typed prompt names by `@path`, from `folder`. What is no file stays as it was typed: `@` stands in names of
 * packages and people too. Only for what a person typed: text from a pipe may be anybody's.
 */
export function attachFiles(prompt: string, folder: string): Attached {
  const images: PromptImage[] = [];
  const texts: string[] = [];
  const notices: string[] = [];
  const paths = new Set([...prompt.matchAll(MENTION)].map(([, quoted, bare]) => quoted ?? bare ?? ''));
  for (const path of paths) {
    const file = resolve(folder, path);
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found?.isFile()) {
      if (!found && looksLikeFile(path, folder))
        notices.push(`There is no file ${path}, so @${path} is taken as text.`);
      continue;
    }
    if (images.length + texts.length === FILES) return { problem: `More than ${FILES} files are attached.` };
    const mimeType = IMAGE_TYPES[extname(path).toLowerCase()];
    const most = mimeType === undefined ? TEXT_BYTES : IMAGE_BYTES;
    if (found.size > most) {
      const hint = mimeType === undefined ? ' Name it without the @, and the agent reads what it needs.' : '';
      return { problem: `@${path} has ${found.size} bytes; at most ${most} can be attached.${hint}` };
    }
    let data: Buffer;
    try {
      data = readFileSync(file);
    } catch (error) {
      return { problem: `@${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}).` };
    }
    if (mimeType !== undefined) images.push({ mimeType, data: new Uint8Array(data) });
    else if (data.includes(0)) return { problem: `@${path} is neither text nor an image (png, jpeg, gif, webp).` };
    else texts.push(attachment(path, data.toString('utf8')));
  }
  return { prompt: [prompt, ...texts].join('\n\n'), images, notices };
}

/** A path with an extension, or one that begins as a path does or in a folder that is there; `@types/node` and `@ada` are none. */
function looksLikeFile(path: string, folder: string): boolean {
  const [first = '', ...rest] = path.split('/');
  if (/^(?:~|\.{0,2})$/.test(first) || extname(path) !== '' || /\s/.test(path)) return true;
  return rest.length > 0 && statSync(resolve(folder, first), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The file between fences that are longer than any inside it. */
function attachment(path: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `Attached file ${path}:\n${fence}\n${text}${text.endsWith('\n') || text === '' ? '' : '\n'}${fence}`;
}
