import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeSurroundings } from '../../test/surroundings.ts';
import { startOwnServer } from './own-server.ts';

it('listens on the loopback whatever the config says, and takes no key but its own', async () => {
  const surroundings = makeSurroundings();
  const config = { providers: { demo: { type: 'demo' } }, listen: { host: '0.0.0.0', port: 1 } };
  writeFileSync(join(surroundings.cwd, 'tandem.json'), JSON.stringify(config));
  const server = await startOwnServer({}, surroundings);
  if ('text' in server) throw new Error(server.text);
  onTestFinished(() => server.close());
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const exchange = (key: string) =>
    fetch(`${server.url}/auth/exchange_user_api_key`, { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  expect((await exchange(server.apiKey)).status).toBe(200);
  expect((await exchange('any')).status).toBe(401);
});
