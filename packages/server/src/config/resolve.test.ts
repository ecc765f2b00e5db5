import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RemoteProvider } from './config.ts';
import { ConfigError } from './config-error.ts';
import type { ConfigPlace } from './resolve.ts';
import { resolveConfig } from './resolve.ts';

let home: string;
let cwd: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'config-'));
  cwd = join(home, 'work');
  await mkdir(cwd);
});
afterEach(() => rm(home, { recursive: true }));

const resolveWith = (place: Partial<ConfigPlace> = {}) => {
  const env = { HOME: home, ...place.env };
  return resolveConfig({ cwd, probe: () => Promise.resolve(false), ...place, env });
};
const write = async (path: string, text: string) => {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
};
/** The config of this file text, or the message with which it is refused. */
const resolveText = async (text: string, env: Record<string, string> = {}) => {
  await write(join(cwd, 'tandem.yaml'), text);
  return resolveWith({ env });
};
const refusal = async (text: string, env: Record<string, string> = {}) => {
  const error = await resolveText(text, env).then(
    () => new Error('it was accepted'),
    (thrown: unknown) => thrown as Error,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return error.message;
};

const WHOLE = `
listen: { host: 127.0.0.1, port: 9000, allowedOrigins: ["https://example.org"], allowedHosts: [tandem.test] }
providers:
  local:
    type: openai-compatible
    baseUrl: http://127.0.0.1:11434/v1/
    apiKey: "\${MY_KEY}"
    headers: { x-team: "blue \${TEAM}" }
    models:
      - { id: qwen3-coder, name: Qwen3 Coder, contextWindow: 131072, maxOutput: 8192, vision: false, aliases: [coder], parameters: [{ id: effort, values: [low, { value: high, displayName: High }] }] }
  show: { type: demo }
defaultModel: local/qwen3-coder
auth: { keys: [ { name: ci, sha256: "${'Ab'.repeat(32)}" } ] }
store: { url: "sqlite:~/data/tandem.db" }
limits: { messageBytes: 1048576 }
`;

describe('a config file', () => {
  test.each(['', '# later\n', '{}'])('[bad-config-empty] that says nothing is told of: %j', async text => {
    const { notices, source, providers } = await resolveText(text);
    expect(notices[0]).toBe(`The config ${source} says nothing, so providers come from the environment.`);
    expect(notices[1]).toContain('demo model answers');
    expect(providers).toEqual([{ name: 'demo', type: 'demo' }]);
    expect((await resolveText('listen: { port: 1 }')).notices.join()).not.toContain('says nothing');
  });

  test('is read whole, with the environment in it', async () => {
    const config = await resolveText(WHOLE, { MY_KEY: 'sk-abcdefgh12345', TEAM: 'one' });
    expect(config).toMatchObject({
      listen: { host: '127.0.0.1', port: 9000, allowedOrigins: ['https://example.org'], allowedHosts: ['tandem.test'] },
      providers: [
        { name: 'local', baseUrl: 'http://127.0.0.1:11434/v1' },
        { name: 'show', type: 'demo' },
      ],
      defaultModel: 'local/qwen3-coder',
      auth: { keys: [{ name: 'ci', sha256: 'ab'.repeat(32) }] },
      store: { file: join(home, 'data/tandem.db') },
      limits: { messageBytes: 1048576, readerGraceSeconds: 15, providerAttempts: 4 },
      source: join(cwd, 'tandem.yaml'),
    });
    const local = config.providers[0] as RemoteProvider;
    expect([local.apiKey?.reveal(), local.headers['x-team']?.reveal()]).toEqual(['sk-abcdefgh12345', 'blue one']);
    expect(local.models[0]?.parameters).toEqual([
      { id: 'effort', values: [{ value: 'low' }, { value: 'high', displayName: 'High' }] },
    ]);
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config) + String(local.apiKey)).not.toMatch(
      /sk-abc|blue one/,
    );
  });

  test('[product-config-places] is the one asked for, else the one of the folder, else the one of the person', async () => {
    const of = (host: string) => `providers: { d: { type: demo } }\nlisten: { host: ${host} }`;
    await write(join(home, '.config/tandem/tandem.yaml'), of('127.0.0.3'));
    expect((await resolveWith()).listen.host).toBe('127.0.0.3');
    await write(
      join(home, 'xdg/tandem/tandem.json'),
      '{"providers":{"d":{"type":"demo"}},"listen":{"host":"127.0.0.4"}}',
    );
    expect((await resolveWith({ env: { XDG_CONFIG_HOME: join(home, 'xdg') } })).listen.host).toBe('127.0.0.4');
    await write(join(cwd, 'tandem.yaml'), of('127.0.0.2'));
    expect((await resolveWith()).listen.host).toBe('127.0.0.2');
    await write(join(cwd, 'other.yaml'), of('127.0.0.5'));
    expect((await resolveWith({ path: 'other.yaml' })).listen.host).toBe('127.0.0.5');
    await write(join(cwd, 'tandem.json'), '{}');
    await expect(resolveWith()).rejects.toThrow(/two config files: .*tandem\.yaml and .*tandem\.json/);
  });

  test('that was asked for and is not there is an error', async () => {
    await expect(resolveWith({ path: 'none.yaml' })).rejects.toThrow(
      `${join(cwd, 'none.yaml')} cannot be read: there is no such file`,
    );
  });

  test('yields to the host and port of the command line', async () => {
    await write(join(cwd, 'tandem.yaml'), WHOLE.replace('${MY_KEY}', 'k').replace('${TEAM}', 't'));
    expect((await resolveWith({ host: '::1', port: 0 })).listen).toMatchObject({ host: '::1', port: 0 });
  });

  test('takes a port from the environment', async () => {
    const config = await resolveText('providers: { d: { type: demo } }\nlisten: { port: "${PORT}" }', { PORT: '8123' });
    expect(config.listen.port).toBe(8123);
  });

  test('may name a store beside itself, or none that stays', async () => {
    expect((await resolveText('providers: { d: { type: demo } }\nstore: { url: "sqlite:x.db" }')).store.file).toBe(
      join(cwd, 'x.db'),
    );
    expect((await resolveText('providers: { d: { type: demo } }\nstore: { url: "sqlite::memory:" }')).store.file).toBe(
      ':memory:',
    );
    expect((await resolveText('providers: { d: { type: demo } }')).store.file).toBe(
      join(home, '.local/share/tandem/tandem.db'),
    );
  });
});

describe('a wrong config file is refused', () => {
  test.each([
    ['a wrong type', 'listen: { port: many }', 'listen.port: expected a number, found "many"'],
    ['a number out of range', 'listen: { port: 70000 }', 'listen.port: expected 65535 or less, found 70000'],
    ['a limit out of range', 'limits: { messageBytes: 3 }', 'limits.messageBytes: expected 65536 or more, found 3'],
    ['an unknown key', 'lisen: {}', 'lisen: unknown key, did you mean listen?'],
    [
      'an unknown key deep inside',
      'providers: { x: { type: demo, modles: [] } }',
      'providers.x.modles: unknown key, did you mean models?',
    ],
    ['a key that is nothing like ours', 'store: { zzz: 1 }', 'store.zzz: unknown key; expected url'],
    [
      'a missing key',
      'providers: { x: { type: openai-compatible } }',
      'providers.x.baseUrl: expected a text, found nothing',
    ],
    ['a type nobody knows', 'providers: { x: { type: magic } }', 'lmstudio, llama.cpp, demo, found "magic"'],
    [
      'a hosted type without a key',
      'providers: { x: { type: anthropic } }',
      'providers.x.apiKey: expected a key, such as ${ANTHROPIC_API_KEY}, found nothing',
    ],
    [
      'a type whose address each customer has to give',
      'providers: { x: { type: azure, apiKey: k } }',
      'providers.x.baseUrl: expected a text, found nothing',
    ],
    [
      'half a key of AWS',
      'providers: { x: { type: bedrock, region: us-east-1, accessKeyId: AKIA } }',
      'providers.x.secretAccessKey: expected both halves of the key, found one',
    ],
    [
      'no key of AWS',
      'providers: { x: { type: bedrock, region: us-east-1 } }',
      'providers.x.accessKeyId: expected accessKeyId and secretAccessKey, or an apiKey',
    ],
    [
      'an address that is none',
      'providers: { x: { type: openai-compatible, baseUrl: localhost } }',
      'providers.x.baseUrl: expected an http or https address',
    ],
    [
      'a hash that is none',
      'auth: { keys: [{ name: a, sha256: ab }] }',
      'auth.keys[0].sha256: expected the hex SHA-256 of the key, 64 digits, found "ab"',
    ],
    [
      'a hash that YAML takes for a number',
      'auth: { keys: [{ name: a, sha256: 12 }] }',
      'auth.keys[0].sha256: expected a text, found 12 without quotes',
    ],
    [
      'an unset variable',
      'providers: { x: { type: openai-compatible, baseUrl: "http://x", apiKey: "${NOPE}" } }',
      'providers.x.apiKey: the environment variable NOPE is not set',
    ],
    ['an empty variable', 'defaultModel: "${EMPTY}"', 'defaultModel: the environment variable EMPTY is empty'],
    [
      'another store',
      'store: { url: "postgres://x" }',
      'store.url: expected sqlite:PATH or sqlite::memory:, found "postgres://x"',
    ],
    ['no provider at all', 'providers: {}', 'providers: expected at least one provider, found none'],
    ['text that is no YAML', 'listen: [', 'cannot be read:'],
    ['a key that stands twice', '{"providers":{"d":{"type":"demo"},"d":{"type":"demo"}}}', 'Map keys must be unique'],
    [
      'a text that is too long to show, with its end in sight',
      `store: { url: "postgres://${'x'.repeat(100)}" }`,
      `found "postgres://${'x'.repeat(68)}…" (111 characters)`,
    ],
    [
      'a value of the wrong kind',
      'providers: { x: { type: openai-compatible, baseUrl: "http://x", models: [{ id: m, parameters: [{ id: effort, values: [3] }] }] }, y: }',
      'values[0]: expected a text, or an object with the key value, found 3',
    ],
    ['nothing where an object belongs', 'providers:\n  x:\n', 'providers.x: expected an object, found nothing'],
    [
      'a provider name with a slash',
      'providers: { a/b: { type: demo } }',
      'providers["a/b"]: expected letters, digits, dots, dashes and underscores, found "a/b"',
    ],
    ['a list', '- 1', 'the file: expected an object, found a list'],
  ])('[product-config-unknown-key] for %s', async (_, text, message) => {
    expect(await refusal(text, { EMPTY: '' })).toContain(message);
  });

  test.each([
    ['a: { k: ${LOCAL_KEY} }', 'line 1, column 10'],
    ['providers:\n  x: {\n    apiKey: ${LOCAL_KEY}\n  }', 'line 3, column 14'],
    ['a: [ ${LOCAL_KEY} ]', 'line 1, column 7'],
    ['a: { k: x${LOCAL_KEY} }', 'line 1, column 11'],
  ])('[bad-config-variable-unquoted] of %j with the quotes that are missing', async (text, place) => {
    expect(await refusal(text, { LOCAL_KEY: 'hunter2hunter2' })).toBe(
      `The config ${join(cwd, 'tandem.yaml')}, ${place} cannot be read: inside { } and [ ] a variable stands in quotes. Write "\${LOCAL_KEY}" there.`,
    );
  });

  test('without quoting a file that cannot be parsed', async () => {
    const message = await refusal('providers:\n  x: { apiKey: hunter2hunter2\n  y: 3');
    expect(message).toMatch(
      /^The config \S+, line 3, column 3 cannot be read: [^.]+\. Look there and on the line before it: indent with spaces/,
    );
    expect(message).not.toContain('hunter2');
  });

  test('with everything that is wrong at once, and no secret', async () => {
    const message = await refusal(
      'listen: { port: -1 }\nproviders: { x: { type: openai-compatible, baseUrl: "http://x", apiKey: [hunter2hunter2], headers: { a: { b: hunter2hunter2 } } } }',
    );
    expect(message.split('\n')).toHaveLength(4);
    expect(message).toContain('providers.x.apiKey: expected a text, found [redacted]');
    expect(message).not.toContain('hunter2');
  });

  test('for an address that others reach and no key', async () => {
    const open = 'providers: { d: { type: demo } }\nlisten: { host: 0.0.0.0 }';
    expect(await refusal(open)).toContain('can be reached from other machines, and auth.keys has no key');
    expect((await resolveText(`${open}\nauth: { keys: [{ name: a, sha256: "${'0'.repeat(64)}" }] }`)).listen.host).toBe(
      '0.0.0.0',
    );
    await expect(resolveWith({ path: undefined, cwd: home, host: '192.168.0.1' })).rejects.toThrow(ConfigError);
  });
});

describe('without a file', () => {
  const providersOf = async (env: Record<string, string>, local: string[] = []) => {
    const config = await resolveWith({ env, probe: url => Promise.resolve(local.some(part => url.includes(part))) });
    return { ...config, names: config.providers.map(provider => provider.name), said: config.notices.join('\n') };
  };

  test('[product-provider-from-environment] keys of the environment configure their providers', async () => {
    const { names, providers, source } = await providersOf({
      OPENAI_API_KEY: 'sk-1',
      OPENROUTER_API_KEY: 'sk-2',
      GEMINI_API_KEY: 'AI',
      ANTHROPIC_API_KEY: 'sk-ant',
    });
    expect(names).toEqual(['openai', 'anthropic', 'openrouter', 'gemini']);
    expect(source).toBe('the environment');
    expect(providers[3]).toMatchObject({
      type: 'google',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    });
    expect((providers[0] as RemoteProvider).apiKey?.reveal()).toBe('sk-1');
  });

  test('an address of the environment moves OpenAI', async () => {
    const { providers } = await providersOf({ OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'http://127.0.0.1:5/v1' });
    expect(providers[0]).toMatchObject({ type: 'openai-compatible', baseUrl: 'http://127.0.0.1:5/v1' });
  });

  test('local servers that answer are used', async () => {
    expect((await providersOf({}, ['11434', '1234/'])).names).toEqual(['ollama', 'lmstudio']);
  });

  test('the demo model answers when there is nothing else, and says so', async () => {
    const { names, said } = await providersOf({});
    expect(names).toEqual(['demo']);
    expect(said).toContain('demo model answers');
  });
});
