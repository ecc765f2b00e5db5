import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveConfig } from '@tandem/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repository } from '../citations.ts';
import { runLine } from '../support/command.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';

const readme = readFileSync(join(repository, 'README.md'), 'utf8');

/** The blocks of code in that language, without their fences. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code);

const shellLines = blocks('sh').flatMap(block => block.trim().split('\n'));

describe('the README', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  it('[done-two-commands] opens with a turn that works without key, config and network, and with the tests', async () => {
    const [first = '', second = ''] = shellLines;
    expect(first).toBe('npm ci && npm start -- run "What is in this folder?"');
    const { exitCode, stdout, stderr } = await runLine(first.replace('npm ci && ', ''));
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('README.md');
    expect(stdout).toContain('built-in **demo model**');
    // running the tests from a test would not end: the script is what counts
    expect(second).toBe('npm ci && npm test');
    const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts['test']).toBe('vitest run');
  });

  it('names the address that serve takes when nothing is said', async () => {
    const { listen } = await resolveConfig({ cwd: server.folder, env: {} });
    expect(readme).toContain(`# tandem listening on http://${listen.host}:${listen.port}`);
  });

  it('[done-readme-curl] has a curl line that lists the models', async () => {
    const line = shellLines.find(candidate => candidate.startsWith('curl ')) ?? '';
    expect(line).toBe('curl http://127.0.0.1:7788/v1/models');
    const { exitCode, stdout, stderr } = await runLine(line.replace('http://127.0.0.1:7788', server.url));
    expect(exitCode, stderr).toBe(0);
    const { items } = JSON.parse(stdout) as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).toContain('demo');
  });

  it('has a client of a few lines that runs as it stands', async () => {
    const [snippet = ''] = blocks('ts');
    expect(snippet).toContain("baseUrl: 'http://127.0.0.1:7788'");
    const code = snippet.replace('http://127.0.0.1:7788', server.url);
    const { exitCode, stdout, stderr } = await runLine(
      'node --conditions=tandem-source --input-type=module-typescript -',
      code,
    );
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('built-in **demo model**');
  });
});
