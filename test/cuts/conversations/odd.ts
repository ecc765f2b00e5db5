import type { Conversation } from '../conversation.ts';
import { Hands } from '../hands.ts';

const bytes = (message: unknown) => new TextEncoder().encode(JSON.stringify(message));

/** A state of another server, and everything that models and tools do wrong. */
export const odd: Conversation = {
  name: 'odd',
  hands() {
    const hands = new Hands({
      '.terminals/5.txt':
        '---\npid: 77\ncwd: /home/dev/project\n---\nlistening\n---\nexit_code: 0\nelapsed_ms: 40\n---\n',
    });
    hands.commands.set('false', { stdout: '', stderr: 'it failed\n', code: 1 });
    hands.background.set('serve', 5);
    return hands;
  },
  state: () => ({
    rootPromptMessagesJson: [
      bytes({ role: 'system', content: 'You are a helper of another house.' }),
      bytes({ role: 'user', content: [{ type: 'text', text: 'hello from before' }] }),
      bytes({
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', toolCallId: 'foreign-1', toolName: 'Read', input: { path: 'a.txt' } },
        ],
      }),
      bytes({
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'foreign-1', toolName: 'Read', output: { type: 'text', value: 'hi' } },
        ],
      }),
      bytes({ role: 'assistant', content: 'It says hi.' }),
    ],
    pendingToolCalls: [
      JSON.stringify({ toolCallId: 'foreign-2', toolName: 'Shell', args: { command: 'sleep 9' } }),
      'not JSON at all',
    ],
  }),
  turns: [
    {
      says: 'go on from there',
      answers: [
        {
          text: 'I try.',
          calls: [
            { name: 'Read', args: '{"path": ' },
            { name: 'Read', args: { path: 'a.txt' } },
          ],
        },
        {
          calls: [
            { name: 'Teleport', args: { to: 'Mars' } },
            { name: 'Read', args: { path: 'missing.txt' } },
          ],
        },
        { text: 'Some of it failed.' },
      ],
    },
    {
      says: 'now let it fail',
      answers: [
        {
          calls: [
            { name: 'Shell', args: { command: 'false' } },
            { name: 'CallMcpTool', args: { server: 'nobody', tool_name: 'nothing' } },
          ],
        },
        { calls: [{ name: 'StrReplace', args: { path: 'a.txt', old_string: 'not there', new_string: 'x' } }] },
        { text: 'It failed as you wished.' },
      ],
    },
    {
      says: 'start the server',
      answers: [
        { calls: [{ name: 'Shell', args: { command: 'serve' } }] },
        { calls: [{ name: 'AwaitShell', args: { shell_id: '5' } }] },
        { text: 'It ran and has ended.' },
      ],
    },
  ],
};
