/** A file or a variable that the command looks at, and what for. */
export interface Place {
  readonly name: string;
  readonly says: string;
}

/** The files of the command, for its help and the man page. */
export const FILES: readonly Place[] = [
  {
    name: 'tandem.yaml',
    says: 'the config of a server (or tandem.yml, tandem.json), in the working folder, else in ~/.config/tandem',
  },
  {
    name: '~/.config/tandem/permissions.json',
    says: 'your rules of what may be done here, and what the answer "always" has added',
  },
  {
    name: '.tandem/permissions.json',
    says: 'the rules of a folder; its allow rules hold only once you trust the file',
  },
  { name: '~/.local/state/tandem', says: 'conversations, what can be undone, and the output of commands' },
  { name: '~/.local/share/tandem', says: 'the store of tandem serve, unless store.url says another place' },
];

/** The variables of the environment that the command looks at. */
export const VARIABLES: readonly Place[] = [
  { name: 'TANDEM_API_KEY', says: 'the key for the server of --server' },
  {
    name: 'OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY',
    says: 'keys of providers, where there is no config',
  },
  { name: 'LOG_LEVEL', says: 'debug, info, warn, error or silent; a run logs nothing without it' },
  { name: 'NO_COLOR', says: 'no colours, whatever it is set to' },
  { name: 'HTTP_PROXY, HTTPS_PROXY, NO_PROXY', says: 'the proxies of the connection to a server or a provider' },
  { name: 'NODE_EXTRA_CA_CERTS', says: 'more certificates to trust, such as a self-signed one' },
  {
    name: 'XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME',
    says: 'other places for ~/.config, ~/.local/state and ~/.local/share',
  },
];

/** Where the rules stand, as a part of the help of commands that work in a folder. */
export function permissionHelp(): string {
  const places = FILES.filter(({ name }) => name.endsWith('permissions.json'));
  return `\nPermission rules:\n${places.map(({ name, says }) => `  ${name}\n      ${says}`).join('\n')}\n  docs/permissions.md has how they are written.\n`;
}
