import pc from 'picocolors';
import { createMarkdownStream } from './markdown.ts';
import type { PlainOptions } from './plain.ts';
import { createPlainRender } from './plain.ts';
import type { Render } from './render.ts';

/** Reads and searches in a row that get a line each; a model that gets to know a folder makes dozens. */
const LOOKS_SHOWN = 5;

/**
 * `--output text` on a terminal: the same, with colours, the answer as Markdown, what the model thinks, dimmed, what its
 * edits changed, and what its commands put out while they run.
 */
export function createTtyRender(
  options: Pick<PlainOptions, 'folder' | 'now' | 'costOf'> & { hasColours: boolean },
): Render {
  const { dim, cyan, red, green, bold, italic, underline } = pc.createColors(options.hasColours);
  return createPlainRender({
    ...options,
    paint: { faint: dim, mark: cyan, bad: red, good: green },
    showsThinking: true,
    showsDiffs: true,
    showsLive: true,
    foldsAfter: LOOKS_SHOWN,
    // without any look of its own, a heading is better off with its marks
    ...(options.hasColours && {
      markdown: createMarkdownStream({
        strong: bold,
        emphasis: italic,
        code: cyan,
        heading: text => bold(underline(text)),
        faint: dim,
      }),
    }),
  });
}

/** Whether a terminal wants colours: `NO_COLOR` and a dumb terminal say no. */
export function wantsColours(env: Readonly<Record<string, string | undefined>>): boolean {
  return !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
