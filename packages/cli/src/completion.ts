import type { Command, Option } from 'commander';

/** A shell whose command lines can be completed. */
export type Shell = 'bash' | 'zsh' | 'fish';

/** A script for a shell that completes commands, flags, and the values of flags that have a list of them; paths elsewhere. */
export function completionScript(shell: Shell, program: Command): string {
  return { bash, zsh, fish }[shell](program);
}

const flagsOf = (command: Command): string[] => [...command.options.map(option => option.long ?? ''), '--help'];

/** The words of which a command takes one, besides its flags; none where anything may stand. */
const wordsOf = (command: Command): readonly string[] => command.registeredArguments[0]?.argChoices ?? [];

/** What may stand after a flag: a list, a path, or nothing known. */
const isPath = (option: Option): boolean => option.required && /<(?:file|folder)>/.test(option.flags);

function bash(program: Command): string {
  const offer = (list: readonly string[]) => `COMPREPLY=($(compgen -W '${list.join(' ')}' -- "$word"))`;
  const names = program.commands.map(command => command.name());
  const cases = program.commands.flatMap(command => [
    ...command.options.flatMap(({ long, argChoices }) =>
      argChoices ? [`    ${command.name()}:${long}) ${offer(argChoices)}; return ;;`] : [],
    ),
    ...(wordsOf(command).length > 0
      ? [`    ${command.name()}:${command.name()}) ${offer(wordsOf(command))}; return ;;`]
      : []),
  ]);
  return `_tandem() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${[...names, '--help', '--version'].join(' ')}' -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]}:$before in
${cases.join('\n')}
  esac
  case $word in
    -*) case \${COMP_WORDS[1]} in
${program.commands.map(command => `      ${command.name()}) COMPREPLY=($(compgen -W '${flagsOf(command).join(' ')}' -- "$word")) ;;`).join('\n')}
    esac ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _tandem tandem
`;
}

function zsh(program: Command): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const spec = (option: Option): string => {
    const about = option.description.replace(/[[\]:]/g, ' ');
    const value = option.argChoices
      ? `:value:(${option.argChoices.join(' ')})`
      : isPath(option)
        ? ':path:_files'
        : ':value:';
    return quoted(`${option.long}[${about}]${option.required ? value : ''}`);
  };
  return `#compdef tandem
_tandem() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${program.commands.map(command => `      ${quoted(`${command.name()}:${command.description()}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
${program.commands
  .map(command => {
    const words = wordsOf(command);
    const rest = words.length > 0 ? quoted(`1:word:(${words.join(' ')})`) : "'*:path:_files'";
    return `    ${command.name()}) _arguments ${[...command.options.map(spec), rest].join(' ')} ;;`;
  })
  .join('\n')}
  esac
}
compdef _tandem tandem
`;
}

function fish(program: Command): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = ['complete -c tandem -n __fish_use_subcommand -f'];
  for (const command of program.commands) {
    lines.push(`complete -c tandem -n __fish_use_subcommand -a ${command.name()} -d ${quoted(command.description())}`);
    for (const option of command.options) {
      const value = option.argChoices
        ? ` -x -a ${quoted(option.argChoices.join(' '))}`
        : isPath(option)
          ? ' -r'
          : option.required
            ? ' -x'
            : '';
      lines.push(
        `complete -c tandem -n '__fish_seen_subcommand_from ${command.name()}' -l ${option.long?.slice(2)}${value} -d ${quoted(option.description)}`,
      );
    }
    const words = wordsOf(command);
    if (words.length > 0)
      lines.push(
        `complete -c tandem -n '__fish_seen_subcommand_from ${command.name()}' -f -a ${quoted(words.join(' '))}`,
      );
  }
  return `${lines.join('\n')}\n`;
}
