import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { ExitCode } from './exit-code.ts';
import { EXIT } from './exit-code.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Reads the command line and does what it says. What a command needs is loaded only when that command runs, so that `--version`
 * and `--help` answer at once.
 *
 * @param argv what stands after `tandem`
 */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const program = new Command('tandem')
    .description('Run agents in your workspace, with any model, over an open protocol')
    .version(versionOfPackage(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('Run tandem --help to see what there is.')
    .configureOutput({
      writeOut: text => surroundings.stdout.write(text),
      writeErr: text => surroundings.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(text.replace(/^error: /, 'tandem: ')),
    });

  program
    .command('serve')
    .description('run the server until it is told to stop')
    .option('--config <file>', "the config; else tandem.yaml in this folder or in the user's config folder")
    .option('--host <address>', 'the address to listen on (default 127.0.0.1)')
    .option('--port <number>', 'the port to listen on, 0 for a free one (default 7788)', readPort)
    .option('--json', 'say where it listens as one JSON line')
    .addOption(new Option('--tls-cert <file>', 'certificate chain as PEM: serve HTTPS, HTTP/2 and HTTP/1.1 on one port'))
    .addOption(new Option('--tls-key <file>', 'its private key as PEM'))
    .action(async options => {
      const { serve } = await import('./commands/serve.ts');
      exitCode = await serve(options, surroundings);
    });

  program
    .command('run')
    .description('run one turn of an agent in a folder')
    .argument('[prompt]', 'what to do; - or nothing reads it from stdin')
    .option('--model <id>', 'a model of the server; its default when absent')
    .addOption(
      new Option('--mode <mode>', 'what the agent may set out to do (default agent)').choices(['agent', 'ask', 'plan']),
    )
    .option('--cwd <folder>', 'the folder to work in (default this one)')
    .option('--server <url>', 'a running server; without it one is started inside this process')
    .option('--key <key>', 'the key for that server; TANDEM_API_KEY when absent')
    .addOption(new Option('--output <form>', 'how to show it (default text)').choices(['text', 'json', 'stream-json']))
    .addOption(
      new Option('--permission <mode>', 'what may be done here (default ask on a terminal, else read-only)').choices([
        'ask',
        'auto',
        'read-only',
      ]),
    )
    .addOption(new Option('--continue', 'go on with the last conversation of the folder').conflicts('resume'))
    .option('--resume <id>', 'go on with this conversation')
    .option('--config <file>', 'the config of the server inside this process')
    .action(async (prompt, options) => {
      const { run } = await import('./commands/run.ts');
      exitCode = await run(prompt, options, surroundings);
    });

  program
    .command('inspect')
    .description('decode a captured body, one JSON object a frame')
    .argument('<file>', 'the capture; - reads it from stdin')
    .addOption(new Option('--as <kind>', 'what it is; else that is found out').choices(['sse', 'append', 'request']))
    .addOption(
      new Option('--encoding <name>', 'how compressed frames are packed; else that is found out').choices([
        'gzip',
        'br',
        'identity',
      ]),
    )
    .option('--full', 'show bytes whole')
    .action(async (file, flags) => {
      const { inspect } = await import('./commands/inspect.ts');
      exitCode = await inspect(file, flags, surroundings);
    });

  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // it has already said what is wrong, or printed what was asked for
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    throw error;
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

function versionOfPackage(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
