import type { ToolEvent } from '@tandem/client';
import { plainJson } from './plain-text.ts';
import type { Render } from './render.ts';

/** `--output stream-json`: every event as it is, one object a line. The end is the last one. */
export function createStreamJsonRender(): Render {
  return event => [{ to: 'stdout', text: `${plainJson(event)}\n` }];
}

/** `--output json`: the end alone, with `tools`, the tool calls of the run as they stood last. */
export function createJsonRender(): Render {
  const tools = new Map<string, Omit<ToolEvent, 'type' | 'argsTextDelta'>>();
  return event => {
    if (event.type === 'tool') {
      const { id, name, status, args, result } = event;
      const before = tools.get(id);
      tools.set(id, {
        id,
        name: name || before?.name || '',
        status,
        ...((args ?? before?.args) && { args: args ?? before?.args }),
        ...((result ?? before?.result) && { result: result ?? before?.result }),
      } as Omit<ToolEvent, 'type' | 'argsTextDelta'>);
    }
    if (event.type !== 'end') return [];
    return [{ to: 'stdout', text: `${plainJson({ ...event, tools: [...tools.values()] })}\n` }];
  };
}
