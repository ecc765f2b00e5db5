import { expect, it } from 'vitest';
import { SLASH_COMMANDS, readChatLine, slashHelp } from './slash-command.ts';
import { createUsageTotal } from './usage-total.ts';

it.each([
  ['/model gpt[effort=high]', { kind: 'command', name: 'model', argument: 'gpt[effort=high]' }],
  [' /HELP ', { kind: 'command', name: 'help', argument: '' }],
  ['/nope', { kind: 'unknown', name: 'nope' }],
  ['/usr/bin is what?', { kind: 'text', text: '/usr/bin is what?' }],
  ['//help', { kind: 'text', text: '/help' }],
  ['/help\nand more', { kind: 'text', text: '/help\nand more' }],
  ['/undo this\nand that', { kind: 'text', text: '/undo this\nand that' }],
  ['what is /help', { kind: 'text', text: 'what is /help' }],
])('reads %j', (line, expected) => {
  expect(readChatLine(line)).toEqual(expected);
});

it('[product-chat-commands] has help for every command', () => {
  for (const name of Object.keys(SLASH_COMMANDS)) expect(slashHelp()).toContain(`/${name}`);
});

it('[product-cost] adds up tokens and cost, and says of each turn without a price that its cost is unknown', () => {
  const total = createUsageTotal();
  expect(total.text()).toBe('0 turns, no tokens were reported. Cost: $0.00.');
  total.add({ inputTokens: '9007199254740993' }, undefined);
  expect(total.text()).toBe(
    '1 turn, tokens: 9,007,199,254,740,993 in. Cost: unknown, because the server lists no price for the model; models[].price in its config gives one.',
  );
  total.add({ inputTokens: 600, cacheReadTokens: 400, outputTokens: 5 }, 0.25);
  total.add(undefined, 0.5);
  expect(total.text()).toBe(
    '3 turns, tokens: 9,007,199,254,741,993 in, 400 of them cached, 5 out. Cost: $0.75, and unknown for 1 of the turns.',
  );
});
