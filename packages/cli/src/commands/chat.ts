import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import type { Surroundings } from '../surroundings.ts';
import type { RunOptions } from './run.ts';

/** The flags of `tandem chat`, as they were given. */
export type ChatOptions = Omit<RunOptions, 'output' | 'quiet'>;

/** A conversation turn by turn. */
export function chat(_options: ChatOptions, { stderr }: Surroundings): Promise<ExitCode> {
  stderr.write('tandem: chat needs a terminal.\n');
  return Promise.resolve(EXIT.usage);
}
