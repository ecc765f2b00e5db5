import type { Conversation } from '../conversation.ts';
import { Hands } from '../hands.ts';

const weather = {
  name: 'weather',
  providerIdentifier: 'sky',
  toolName: 'weather',
  description: 'Tells the weather.',
  inputSchemaJson: '{"type":"object","properties":{"town":{"type":"string"}}}',
};
const weatherCall = (town: string) => ({ name: 'mcp_sky_weather', args: { town } });

/** Several turns with tools side by side: reads, commands with output, MCP. */
export const parallel: Conversation = {
  name: 'parallel',
  hands() {
    const hands = new Hands({ 'b.txt': 'second file\n', 'build.log': 'built\n' });
    hands.commands.set('make', { stdout: 'compiling\nlinking\n', stderr: 'one warning\n' });
    hands.mcp.set('sky/weather', args => `sunny in ${String(args['town'])}`);
    hands.context = { tools: [weather] };
    return hands;
  },
  turns: [
    {
      says: 'look around',
      answers: [
        {
          text: 'I look at three things.',
          calls: [
            { name: 'Read', args: { path: 'a.txt' } },
            { name: 'Shell', args: { command: 'make' } },
            weatherCall('Bern'),
          ],
        },
        { text: 'All is well 🙂.' },
      ],
    },
    {
      says: 'once more, one after the other',
      answers: [
        { calls: [{ name: 'Shell', args: { command: 'ls -l' } }] },
        {
          text: 'Then the log.',
          calls: [
            { name: 'Read', args: { path: 'build.log' } },
            { name: 'Ls', args: { path: '.' } },
          ],
        },
        { text: 'Done twice.' },
      ],
    },
    { says: 'just talk', answers: [{ text: 'Here are some words, without any tool.' }] },
    {
      says: 'everything at once',
      answers: [
        {
          calls: [
            { name: 'Read', args: { path: 'b.txt' } },
            { name: 'Shell', args: { command: 'make' } },
            { name: 'Shell', args: { command: 'date' } },
            weatherCall('Oslo'),
          ],
        },
        { text: 'That was everything.' },
      ],
    },
  ],
};
