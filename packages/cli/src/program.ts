import { readFileSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { ExitCode } from './exit-code.ts';
import { EXIT } from './exit-code.ts';
import { EXAMPLES, examplesText } from './examples.ts';
import type { Shell } from './completion.ts';
import { permissionHelp } from './places.ts';
import type { Surroundings } from './surroundings.ts';

/** Does what a command line said; the code of a command is loaded only when it is called. */
export type Call = (act: (surroundings: Surroundings) => Promise<ExitCode>) => Promise<void>;

/** Every command with its flags: the one source of `--help`, the man page and the shell completions. */
export function makeProgram(call: Call): Command {
  const program = new Command('tandem')
    .description('Run agents in your workspace, with any model, over an open protocol')
    .version(versionOfPackage(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false);

  program
    .command('run')
    .description('run one turn of an agent in a folder')
    .argument('[prompt]', 'what to do; - or nothing reads it from stdin; @path in it attaches a file or an image')
    .addOption(modelOption())
    .addOption(modeOption())
    .addOption(folderOption())
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(new Option('--output <form>', 'how to show it (default text)').choices(['text', 'json', 'stream-json']))
    .option('--quiet', 'the answer alone: no tools, no figures')
    .addOption(permissionOption())
    .addOption(new Option('--continue', 'go on with the last conversation of the folder').conflicts('resume'))
    .option('--resume <id>', 'go on with this conversation')
    .addOption(configOption('the config of the server inside this process'))
    .action((prompt, options) => call(async on => (await import('./commands/run.ts')).run(prompt, options, on)));

  program
    .command('chat')
    .description('run an agent in a folder, turn by turn')
    .addOption(modelOption())
    .addOption(modeOption())
    .addOption(folderOption())
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(permissionOption())
    .addOption(new Option('--continue', 'go on with the last conversation of the folder').conflicts('resume'))
    .option('--resume <id>', 'go on with this conversation')
    .addOption(configOption('the config of the server inside this process'))
    .action(options => call(async on => (await import('./commands/chat.ts')).chat(options, on)));

  program
    .command('serve')
    .description('run the server until it is told to stop')
    .addOption(configOption("the config; else tandem.yaml in this folder or in the user's config folder"))
    .option('--host <address>', 'the address to listen on (default 127.0.0.1)')
    .option('--port <number>', 'the port to listen on, 0 for a free one (default 7788)', readPort)
    .option('--json', 'say where it listens as one JSON line')
    .addOption(
      new Option('--tls-cert <file>', 'certificate chain as PEM: serve HTTPS, HTTP/2 and HTTP/1.1 on one port'),
    )
    .addOption(new Option('--tls-key <file>', 'its private key as PEM'))
    .action(options => call(async on => (await import('./commands/serve.ts')).serve(options, on)));

  program
    .command('models')
    .description('list the models a server offers')
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(configOption('the config of the server inside this process'))
    .option('--json', 'one JSON object a model')
    .action(options => call(async on => (await import('./commands/models.ts')).models(options, on)));

  program
    .command('usage')
    .description(
      'say what model calls used and cost: those of runs here, or with --server those of your key at that server',
    )
    .addOption(
      new Option('--by <group>', 'what a line is about (default day)').choices([
        'day',
        'model',
        'conversation',
        'turn',
      ]),
    )
    .option('--since <day>', 'from this day on, such as 2026-12-01; days begin at midnight UTC')
    .option('--until <day>', 'up to this day, which is left out')
    .option('--conversation <id>', 'of this conversation alone')
    .addOption(new Option('--output <form>', 'how to show it (default text)').choices(['text', 'json']))
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(configOption('the config of the server inside this process'))
    .action(options => call(async on => (await import('./commands/usage.ts')).usage(options, on)));

  program
    .command('history')
    .description('list the conversations of a folder')
    .addOption(folderOption())
    .option('--all', 'those of every folder')
    .option('--limit <number>', 'how many (default 20)', readCount)
    .option('--json', 'one JSON object a conversation')
    .option('--prune', 'list none, and remove what no conversation needs any more')
    .action(options => call(async on => (await import('./commands/history.ts')).history(options, on)));

  program
    .command('show')
    .description('print a conversation')
    .argument('<id>', 'its id, or as much of the beginning as no other one shares')
    .option('--json', 'one JSON object a turn')
    .action((id, options) => call(async on => (await import('./commands/show.ts')).show(id, options, on)));

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
    .action((file, flags) => call(async on => (await import('./commands/inspect.ts')).inspect(file, flags, on)));

  program
    .command('doctor')
    .description('say what is wrong with this machine, config, key or port, and how to mend it')
    .addOption(configOption('the config to look at'))
    .option('--json', 'one JSON object a finding')
    .action(options => call(async on => (await import('./commands/doctor.ts')).doctor(options, on)));

  program
    .command('completion')
    .description('print a script that completes command lines in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action((shell: Shell) =>
      call(async on => {
        const { completionScript } = await import('./completion.ts');
        on.stdout.write(completionScript(shell, program));
        return EXIT.done;
      }),
    );

  const helped = new Argument('[command]', 'which one; without it the help of tandem itself');
  helped.argChoices = program.commands.map(command => command.name());
  program
    .command('help')
    .description('print the help of a command')
    .addArgument(helped)
    .action(async (name?: string) => {
      const command = name === undefined ? program : program.commands.find(one => one.name() === name);
      if (command) command.help();
      // said as of any command that there is none of, with the one that may be meant
      else await program.parseAsync([name ?? ''], { from: 'user' });
    });

  for (const command of [program, ...program.commands]) {
    if (command.options.some(option => option.long === '--permission')) command.addHelpText('after', permissionHelp());
    if (EXAMPLES[command.name()]) command.addHelpText('after', examplesText(command.name()));
  }
  return program;
}

const modelOption = () => new Option('--model <id>', 'a model of the server; its default when absent');
const modeOption = () =>
  new Option(
    '--mode <mode>',
    'what the agent may set out to do (default agent); ask and plan only where --server names a server that has them',
  ).choices(['agent', 'ask', 'plan']);
const folderOption = () => new Option('--cwd <folder>', 'the folder to work in (default this one)');
const serverOption = () =>
  new Option('--server <url>', 'a running server; without it one is started inside this process');
const keyOption = () => new Option('--key <key>', 'the key for that server; TANDEM_API_KEY when absent');
const configOption = (about: string) => new Option('--config <file>', about);
const permissionOption = () =>
  new Option('--permission <mode>', 'what may be done here (default ask on a terminal, else read-only)').choices([
    'ask',
    'auto',
    'read-only',
  ]);

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It is a number from 1 to 9999.');
  return Number(text);
}

function versionOfPackage(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
