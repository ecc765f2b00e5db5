import type { EndEvent, ToolEvent } from '@tandem/client';
import { plainJson } from './plain-text.ts';
import type { Render } from './render.ts';

/** `--output stream-json`: every event as it is, one object a line. The end is the last one. */
export function createStreamJsonRender(): Render {
  return event => [{ to: 'stdout', text: `${plainJson(event)}\n` }];
}

/**
 * `--output json`: the end alone, with `tools`, the tool calls of the run as they stood last. A run that was cancelled while it was being
 * tried again tells the failure it was tried again for.
 *
 * @param modelOf the model that answered, asked at the end
 */
export function createJsonRender(modelOf: () => string | undefined = () => undefined): Render {
  const tools = new Map<string, Omit<ToolEvent, 'type' | 'argsTextDelta'>>();
  let failure: EndEvent['error'];
  return event => {
    if (event.type === 'retry') failure = event.error;
    else if (event.type === 'text' || event.type === 'tool' || event.type === 'checkpoint') failure = undefined;
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
    const error = event.error ?? (event.outcome === 'cancelled' ? failure : undefined);
    const model = modelOf();
    const end = {
      ...event,
      ...(error && { error }),
      ...(model !== undefined && { model }),
      tools: [...tools.values()],
    };
    return [{ to: 'stdout', text: `${plainJson(end)}\n` }];
  };
}
