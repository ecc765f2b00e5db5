import type { Command } from 'commander';
import { EXAMPLES } from './examples.ts';
import { FILES, VARIABLES } from './places.ts';

/** The man page of the whole command, in roff, from the same source as `--help`. */
export function manPage(program: Command): string {
  const lines = [
    `.TH TANDEM 1 "" "tandem ${program.version()}" "Tandem"`,
    '.SH NAME',
    `tandem \\- ${roff(program.description().charAt(0).toLowerCase() + program.description().slice(1))}`,
    '.SH SYNOPSIS',
    ...program.commands.flatMap(command => [`.B tandem ${command.name()}`, roff(command.usage()), '.br']),
    '.SH COMMANDS',
    ...program.commands.flatMap(commandLines),
    '.SH EXIT STATUS',
    ...definition('0', 'what was asked for is done, or the reader of the output wanted no more of it'),
    ...definition('1', 'it was tried and failed'),
    ...definition('2', 'the command line or the config is wrong'),
    ...definition('130', 'the user cancelled it'),
    '.SH ENVIRONMENT',
    ...VARIABLES.flatMap(({ name, says }) => definition(name, says)),
    '.SH FILES',
    ...FILES.flatMap(({ name, says }) => definition(name, says)),
    '.SH EXAMPLES',
    ...(EXAMPLES['tandem'] ?? []).flatMap(({ line, says }) => definition(line, says)),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(command: Command): string[] {
  return [
    `.SS "tandem ${command.name()} ${roff(command.usage()).replaceAll('"', '""')}"`,
    roff(`${command.description().charAt(0).toUpperCase()}${command.description().slice(1)}.`),
    ...command.registeredArguments.flatMap(argument =>
      definition(argument.name(), argument.description + choicesText(argument.argChoices)),
    ),
    ...command.options.flatMap(option => definition(option.flags, option.description + choicesText(option.argChoices))),
    ...(EXAMPLES[command.name()] ?? []).flatMap(({ line, says }) => ['.PP', `.I ${roffWord(line)}`, '.br', roff(says)]),
  ];
}

const choicesText = (choices: readonly string[] | undefined) => (choices ? `; one of ${choices.join(', ')}` : '');

function definition(term: string, about: string): string[] {
  return ['.TP', `.B ${roffWord(term)}`, roff(about)];
}

/** Text behind a macro, where a quote would be taken for a mark of its words; and signs that have to be copied as they are. */
function roffWord(text: string): string {
  return roff(text)
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('`', '\\(ga');
}

/** Plain text in roff: no escapes, no requests. Dashes stay dashes, so that a flag can be copied. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1');
}
