import { CommanderError } from 'commander';
import type { ExitCode } from './exit-code.ts';
import { EXIT } from './exit-code.ts';
import { makeProgram } from './program.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Reads the command line and does what it says. What a command needs is loaded only when that command runs, so that `--version`
 * and `--help` answer at once.
 *
 * @param argv what stands after `tandem`
 */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const program = makeProgram(async act => {
    exitCode = await act(surroundings);
  });
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showHelpAfterError(`Run ${command === program ? '' : 'tandem '}${command.name()} --help to see what there is.`)
      .configureOutput({
        writeOut: text => surroundings.stdout.write(text),
        writeErr: text => surroundings.stderr.write(text),
        getOutHelpWidth: () => surroundings.stdout.columns ?? HELP_COLUMNS,
        getErrHelpWidth: () => surroundings.stderr.columns ?? HELP_COLUMNS,
        getOutHasColors: () => false,
        getErrHasColors: () => false,
        outputError: (text, write) => write(text.replace(/^error: /, 'tandem: ')),
      });
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // it has already said what is wrong, or printed what was asked for
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    throw error;
  }
}

/** Where help is wrapped when nobody says how wide the terminal is. */
const HELP_COLUMNS = 100;
