// What a web page does with the SDK. It is bundled for a browser, so it may import nothing that needs Node.
import { AgentClient } from '@tandem/client';
import type { AnyExecutor, Run, RunEvent } from '@tandem/client';
import { create } from '@bufbuild/protobuf';
import { ReadResultSchema, RequestContextResultSchema } from '@tandem/protocol/agent';
import type { BrowserPage } from './browser-page.ts';

/** The workspace of the page: it has no disk, so files are texts by their path. */
const FILES: ReadonlyMap<string, string> = new Map([['/page/notes.txt', 'the page keeps a plum\n']]);

let run: Run | undefined;
let events: RunEvent[] = [];
let execs: string[] = [];

const executors: readonly AnyExecutor[] = [
  {
    kind: 'requestContextArgs',
    run() {
      execs.push('requestContextArgs');
      const requestContext = { env: { workspacePaths: ['/page'], osVersion: 'browser', shell: '' } };
      const value = create(RequestContextResultSchema, { result: { case: 'success', value: { requestContext } } });
      return Promise.resolve({ case: 'requestContextResult', value });
    },
  },
  {
    kind: 'readArgs',
    run({ path }) {
      execs.push('readArgs');
      const content = FILES.get(path.startsWith('/') ? path : `/page/${path}`);
      const value =
        content === undefined
          ? create(ReadResultSchema, { result: { case: 'fileNotFound', value: { path } } })
          : create(ReadResultSchema, {
              result: { case: 'success', value: { path, output: { case: 'content', value: content }, totalLines: 1 } },
            });
      return Promise.resolve({ case: 'readResult', value });
    },
  },
];

async function follow(following: Run): Promise<void> {
  for await (const event of following) events.push(event);
}

function current(): Run {
  if (!run) throw new Error('no run was begun');
  return run;
}

const page: BrowserPage = {
  begin({ baseUrl, prompt }) {
    events = [];
    execs = [];
    run = new AgentClient({ baseUrl, executors }).run({ prompt });
    void follow(run);
  },
  text: () => events.flatMap(event => (event.type === 'text' ? event.text : [])).join(''),
  pieces: () => events.filter(event => event.type === 'text').length,
  execs: () => execs,
  tools: () =>
    events.flatMap(event =>
      event.type === 'tool' && (event.status === 'completed' || event.status === 'failed')
        ? `${event.name} ${event.status}`
        : [],
    ),
  cancel: () => current().cancel(),
  async end() {
    const { outcome, text, error } = await current().done;
    return { outcome, text, ...(error && { error }) };
  },
  async models(baseUrl) {
    const items = await new AgentClient({ baseUrl, executors: [] }).models();
    return items.map(({ id }) => id);
  },
};

Object.assign(globalThis, { tandem: page });
