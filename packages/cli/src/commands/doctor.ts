import { ConfigError, resolveConfig } from '@tandem/server';
import type { Config } from '@tandem/server';
import pc from 'picocolors';
import type { Finding } from '../doctor/finding.ts';
import { examineMachine } from '../doctor/machine.ts';
import { examinePermissions } from '../doctor/permissions.ts';
import { examineNamedModels } from '../doctor/models.ts';
import { examinePort } from '../doctor/port.ts';
import { examineProviders } from '../doctor/providers.ts';
import { examineStores } from '../doctor/store.ts';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { plainJson, plainText } from '../render/plain-text.ts';
import { wantsColours } from '../render/tty.ts';
import type { Surroundings } from '../surroundings.ts';
import { writeTo } from '../surroundings.ts';

/** The flags of `tandem doctor`, as they were given. */
export interface DoctorOptions {
  readonly config?: string;
  readonly json?: boolean;
}

const MARKS = { ok: '✓', warning: '!', broken: '✗' } as const;

/** Looks at machine, permissions, config, keys, port and store, and says of each what is wrong and how to mend it. Exits 1 when something is broken. */
export async function doctor(options: DoctorOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { stdout, env, stop } = surroundings;
  const { green, yellow, red, dim } = pc.createColors(stdout.isTTY === true && wantsColours(env));
  const paints = { ok: green, warning: yellow, broken: red };
  let isBroken = false;
  for await (const found of examine(options, surroundings)) {
    if (stop.aborted) return EXIT.cancelled;
    isBroken ||= found.state === 'broken';
    const { about, state, says, mend } = found;
    const text = options.json
      ? plainJson(found)
      : `${paints[state](MARKS[state])} ${plainText(`${about}: ${says}`)}${mend === undefined ? '' : `\n    ${dim(plainText(mend))}`}`;
    await writeTo(stdout, `${text}\n`);
  }
  return isBroken ? EXIT.failed : EXIT.done;
}

async function* examine({ config: path }: DoctorOptions, { cwd, env }: Surroundings): AsyncGenerator<Finding> {
  yield* await examineMachine(env);
  yield* examinePermissions(cwd);
  let config: Config | undefined;
  try {
    config = await resolveConfig({ path, cwd, env });
    yield { about: 'config', state: 'ok', says: `from ${config.source}` };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield {
      about: 'config',
      state: 'broken',
      says: error.message,
      mend: 'Mend the file; docs/operating.md and docs/providers.md have every key.',
    };
  }
  if (config) {
    yield* await examineProviders(config);
    yield* await examineNamedModels(config);
    yield await examinePort(config);
  }
  yield* await examineStores(config);
}
