/** A command line, and what it is good for. */
export interface Example {
  readonly line: string;
  readonly says: string;
}

/** What `--help` and the man page teach by, by command; `tandem` itself first. */
export const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  tandem: [
    { line: 'tandem run "What is in this folder?"', says: 'one turn here; with no key the demo model looks around' },
    { line: 'tandem chat', says: 'the same as a conversation' },
    { line: 'tandem serve', says: 'a server for any client of the protocol' },
    { line: 'tandem doctor', says: 'what is wrong, and how to mend it' },
    { line: 'tandem help run', says: 'every flag of a command, with examples' },
  ],
  serve: [
    { line: 'tandem serve', says: 'on http://127.0.0.1:7788, with what the environment or tandem.yaml offers' },
    { line: 'tandem serve --port 0 --json', says: 'on a free port, which one said as JSON' },
    { line: 'tandem serve --tls-cert cert.pem --tls-key key.pem', says: 'HTTPS and HTTP/2' },
  ],
  run: [
    { line: 'tandem run "Why does the build fail?"', says: 'asks before it changes anything' },
    { line: 'tandem run --permission auto "Fix the typo in @README.md"', says: 'attaches a file, asks nothing' },
    { line: 'tandem run "What is wrong here? @screen.png"', says: 'attaches an image' },
    { line: 'git diff | tandem run', says: 'takes the prompt from stdin' },
    { line: 'tandem run --continue "And the tests?"', says: 'goes on with the last conversation of this folder' },
    { line: 'tandem run --output json "Count the files" | jq -r .text', says: 'for scripts' },
    { line: 'tandem run --server http://127.0.0.1:7788 --model coder "Hello"', says: 'on a server that runs already' },
  ],
  chat: [
    { line: 'tandem chat', says: 'a new conversation in this folder; /help lists what can be typed' },
    { line: 'tandem chat --continue', says: 'goes on with the last one' },
    { line: 'tandem chat --permission auto', says: 'asks nothing inside the folder' },
  ],
  models: [
    { line: 'tandem models', says: 'what a run here could use, the default first' },
    { line: 'tandem models --server http://127.0.0.1:7788 --json', says: 'of a server, one JSON object a line' },
  ],
  usage: [
    { line: 'tandem usage --since 2026-12-01', says: 'tokens and cost of the runs here, one line a day' },
    { line: 'tandem usage --by model --server http://127.0.0.1:7788', says: 'of a key at a server, one line a model' },
  ],
  history: [
    { line: 'tandem history', says: 'the conversations of this folder, the newest first' },
    { line: 'tandem history --all --limit 100', says: 'of every folder' },
  ],
  show: [
    { line: 'tandem show 3f2a', says: 'one conversation, by as much of its id as is needed' },
    { line: 'tandem show 3f2a --json', says: 'one JSON object a turn' },
  ],
  doctor: [
    { line: 'tandem doctor', says: 'machine, config, keys, port and store; exit code 1 when something is broken' },
  ],
  inspect: [
    { line: 'tandem inspect answer.bin', says: 'the frames of a captured answer, one JSON object each' },
    { line: 'tandem inspect --as append --full -', says: 'an append from stdin, its bytes whole' },
  ],
  completion: [
    { line: 'source <(tandem completion bash)', says: 'in ~/.bashrc' },
    { line: 'source <(tandem completion zsh)', says: 'in ~/.zshrc, after compinit' },
    { line: 'tandem completion fish > ~/.config/fish/completions/tandem.fish', says: 'once' },
  ],
  help: [{ line: 'tandem help run', says: 'the same as tandem run --help' }],
};

/** The examples of a command as the last part of its help. */
export function examplesText(name: string): string {
  const examples = EXAMPLES[name] ?? [];
  return `\nExamples:\n${examples.map(({ line, says }) => `  ${line}\n      ${says}`).join('\n')}\n`;
}
