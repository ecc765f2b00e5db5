import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A web server with one page, at an origin of its own. */
export interface PageHost {
  readonly origin: string;
  close(): Promise<void>;
}

/** The page with the SDK in it as one script, made by the bundler as an application would; nothing is written to disk. */
export async function bundlePage(): Promise<string> {
  const { build } = await import('vite');
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['tandem-source'] },
    build: {
      write: false,
      minify: false,
      rolldownOptions: { input: fileURLToPath(new URL('page.ts', import.meta.url)), output: { format: 'es' } },
    },
  });
  const outputs = [result].flat().flatMap(one => ('output' in one ? one.output : []));
  const chunks = outputs.flatMap(one => (one.type === 'chunk' ? one.code : []));
  if (chunks.length !== 1) throw new Error(`the bundler made ${chunks.length} scripts of the page in place of one`);
  return chunks[0] ?? '';
}

/** Serves the script as a page, on a free port. */
export async function hostPage(script: string): Promise<PageHost> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8');
    response.end(
      isScript ? script : '<!doctype html><title>page</title><script type="module" src="/page.js"></script>',
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
