import type { Command } from 'commander';
import { EXAMPLES } from './examples.ts';

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
    ...definition('0', 'what was asked for is done'),
    ...definition('1', 'it was tried and failed'),
    ...definition('2', 'the command line or the config is wrong'),
    ...definition('130', 'the user cancelled it'),
    '.SH EXAMPLES',
    ...(EXAMPLES['tandem'] ?? []).flatMap(({ line, says }) => definition(line, says)),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(command: Command): string[] {
  return [
    `.SS "tandem ${command.name()} ${roff(command.usage()).replaceAll('"', '""')}"`,
    roff(`${command.description().charAt(0).toUpperCase()}${command.description().slice(1)}.`),
    ...command.registeredArguments.flatMap(argument => definition(argument.name(), argument.description)),
    ...command.options.flatMap(option => {
      const choices = option.argChoices ? `; one of ${option.argChoices.join(', ')}` : '';
      return definition(option.flags, option.description + choices);
    }),
    ...(EXAMPLES[command.name()] ?? []).flatMap(({ line, says }) => ['.PP', `.I ${roff(line)}`, '.br', roff(says)]),
  ];
}

function definition(term: string, about: string): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(about)];
}

/** Plain text in roff: no escapes, no requests. Dashes stay dashes, so that a flag can be copied. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1');
}
