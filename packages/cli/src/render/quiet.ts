import type { EndEvent } from '@tandem/client';
import { plainLine, plainText } from './plain-text.ts';
import type { Render } from './render.ts';

/** The longest failure; servers may send a page. */
const FAILURE_CHARACTERS = 2_000;

/** `--quiet`: the answer alone, once it is whole; a failure goes to stderr. */
export function createQuietRender(): Render {
  return event => {
    if (event.type !== 'end') return [];
    const text = plainText(event.text).replace(/\n*$/, '\n');
    const failure = failureOf(event);
    return [
      ...(text === '\n' ? [] : [{ to: 'stdout' as const, text }]),
      ...(failure === '' ? [] : [{ to: 'stderr' as const, text: `tandem: ${failure}\n` }]),
    ];
  };
}

function failureOf({ outcome, error }: EndEvent): string {
  if (outcome !== 'failed') return '';
  return plainLine(`${error?.title ?? 'Failed'}: ${error?.message ?? ''}`, FAILURE_CHARACTERS);
}
