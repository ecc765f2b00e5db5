/** What can be typed in a chat besides prompts. */
export const SLASH_COMMANDS = {
  model: { argument: '[ID]', says: 'take another model from the next turn on; without an id, list them' },
  mode: { argument: '[agent|ask|plan]', says: 'take another mode from the next turn on, where the server has it' },
  resume: { argument: '[ID]', says: 'go on with another conversation; without an id, list those of this folder' },
  new: { argument: '', says: 'begin another conversation' },
  diff: { argument: '', says: 'show what this chat has changed in files' },
  undo: { argument: '', says: 'bring back the files that the last turn changed' },
  cost: { argument: '', says: 'show the tokens of this chat, and its cost where prices are known' },
  help: { argument: '', says: 'show this' },
  exit: { argument: '', says: 'leave, as Ctrl-D does' },
} as const;

export type SlashName = keyof typeof SLASH_COMMANDS;

/** A line as what it is: a command with what follows it, a command that there is none of, or text for the agent. */
export type ChatLine =
  | { readonly kind: 'command'; readonly name: SlashName; readonly argument: string }
  | { readonly kind: 'unknown'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string };

/** Reads a line. A path such as `/usr/bin` is text; so are `//x`, for a text that begins with a slash, and whatever has several lines. */
export function readChatLine(line: string): ChatLine {
  const [, name, argument = ''] = /^\/([a-z]+)(?:[ \t]+(.*))?$/i.exec(line.trim()) ?? [];
  if (name === undefined) return { kind: 'text', text: line.startsWith('//') ? line.slice(1) : line };
  const known = (Object.keys(SLASH_COMMANDS) as SlashName[]).find(one => one === name.toLowerCase());
  return known ? { kind: 'command', name: known, argument: argument.trim() } : { kind: 'unknown', name };
}

/** The help of a chat. */
export function slashHelp(): string {
  const rows = Object.entries(SLASH_COMMANDS).map(([name, { argument, says }]) => [
    `/${name} ${argument}`.trim(),
    says,
  ]);
  const widest = Math.max(...rows.map(([usage = '']) => usage.length));
  return [
    ...rows.map(([usage = '', says]) => `  ${usage.padEnd(widest)}  ${says}`),
    '  @path attaches a file or an image. Alt-Enter or \\ at the end begins a new line; Up brings back what was typed.',
    '  What is typed while the agent works is told to it, or waits for the next turn. Ctrl-C cancels the turn.',
    '',
  ].join('\n');
}
