import { expect, it } from 'vitest';
import { SLASH_COMMANDS, readChatLine, slashHelp } from './slash-command.ts';
import { createUsageTotal } from './usage-total.ts';

it.each([
  ['/model gpt[effort=high]', { kind: 'command', name: 'model', argument: 'gpt[effort=high]' }],
  [' /HELP ', { kind: 'command', name: 'help', argument: '' }],
  ['/nope', { kind: 'unknown', name: 'nope' }],
  ['/usr/bin is what?', { kind: 'text', text: '/usr/bin is what?' }],
  ['//help', { kind: 'text', text: '/help' }],
  ['what is /help', { kind: 'text', text: 'what is /help' }],
])('reads %j', (line, expected) => {
  expect(readChatLine(line)).toEqual(expected);
});

it('has help for every command', () => {
  for (const name of Object.keys(SLASH_COMMANDS)) expect(slashHelp()).toContain(`/${name}`);
});

it('adds up tokens, and says nothing of what nobody reported', () => {
  const total = createUsageTotal();
  total.add({ inputTokens: 1000, outputTokens: 5 });
  total.add({ inputTokens: '9007199254740993' });
  total.add(undefined);
  expect(total.text()).toBe('3 turns, tokens: 9,007,199,254,741,993 in, 5 out. Prices are not known here.');
  expect(createUsageTotal().text()).toBe('0 turns, no tokens were reported. Prices are not known here.');
});
