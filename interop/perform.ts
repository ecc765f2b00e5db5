import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SDKMessage } from '@cursor/sdk';
import { startProvider } from '../test/support/provider.ts';
import { runClientProcess } from './client-process.ts';
import type { Report, Scenario, World } from './scenario.ts';
import { makeCertificate, startServerProcess } from './server-process.ts';

const MODEL = 'test-model';

/** Every scenario may read this one. */
const FILES = { 'a.txt': 'hi file\nsecond line\n' };

/** Runs one scenario with a model, a server, a workspace and a home of its own. Throws when its promise was broken. */
export async function perform(scenario: Scenario): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `tandem-interop-${scenario.name}-`));
  const workspace = join(folder, 'workspace');
  const home = join(folder, 'home');
  mkdirSync(home);
  for (const [path, text] of Object.entries({ ...FILES, ...scenario.files })) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
  const provider = await startProvider({ answers: scenario.answers });
  const config = join(folder, 'tandem.json');
  writeFileSync(config, JSON.stringify(configFor(provider.baseUrl, folder)));
  const certificate = scenario.secure === true ? makeCertificate(folder) : undefined;
  const server = await startServerProcess(config, certificate).catch(async (error: unknown) => {
    await provider.close();
    throw error;
  });

  const events: SDKMessage[] = [];
  const waiting = new Set<{ fits: (event: SDKMessage) => boolean; resolve: (event: SDKMessage) => void }>();
  const onEvent = (event: SDKMessage) => {
    events.push(event);
    for (const waiter of waiting) if (waiter.fits(event)) waiter.resolve(event);
  };
  const world: World = {
    workspace,
    provider,
    server,
    untilEvent(fits) {
      const seen = events.find(fits);
      return seen ? Promise.resolve(seen) : new Promise(resolve => waiting.add({ fits, resolve }));
    },
  };
  const given = new AbortController();
  try {
    const reports: Report[] = [];
    const place = { url: server.url, workspace, home, model: MODEL, certificate: certificate?.cert };
    for (let act = 0; act < scenario.acts.length; act++) {
      const client = runClientProcess(scenario.name, act, place, reports, onEvent, given.signal);
      // what waits for an event that never comes is over when the client is
      await Promise.race([client, Promise.all([client, act === 0 ? scenario.meanwhile?.(world) : undefined])]);
      reports.push(await client);
    }
    await scenario.check({ ...world, reports, runs: reports.flatMap(report => report.runs ?? []) });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${server.output}`, { cause: error });
  } finally {
    given.abort();
    await server.stop();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function configFor(baseUrl: string, folder: string): object {
  const models = [{ id: MODEL, name: 'Test model', contextWindow: 200_000, maxOutput: 8000, vision: true }];
  return {
    providers: { scripted: { type: 'openai-compatible', baseUrl, apiKey: 'provider-key-do-not-leak', models } },
    defaultModel: `scripted/${MODEL}`,
    store: { url: `sqlite:${join(folder, 'tandem.db')}` },
  };
}
