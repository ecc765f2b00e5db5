import pc from 'picocolors';
import type { PlainOptions } from './plain.ts';
import { createPlainRender } from './plain.ts';
import type { Render } from './render.ts';

/** `--output text` on a terminal: the same, with colours and with what the model thinks, dimmed. */
export function createTtyRender(
  options: Omit<PlainOptions, 'paint' | 'showsThinking'> & { hasColours: boolean },
): Render {
  const { dim, cyan, red } = pc.createColors(options.hasColours);
  return createPlainRender({ ...options, paint: { faint: dim, mark: cyan, bad: red }, showsThinking: true });
}

/** Whether a terminal wants colours: `NO_COLOR` and a dumb terminal say no. */
export function wantsColours(env: Readonly<Record<string, string | undefined>>): boolean {
  return !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
