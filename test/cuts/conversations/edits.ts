import type { Conversation } from '../conversation.ts';
import { Hands } from '../hands.ts';

const todo = (id: string, status: string) => ({ id, content: `do ${id}`, status });

/** Edits, which are two execs a call, and todos, which are none. */
export const edits: Conversation = {
  name: 'edits',
  hands: () => new Hands({ 'main.ts': 'const a = 1;\nconst b = 2;\n', 'old.txt': 'old\n' }),
  turns: [
    {
      says: 'change the constants',
      answers: [
        {
          text: 'A plan first.',
          calls: [
            {
              name: 'TodoWrite',
              args: { merge: false, todos: [todo('edit', 'in_progress'), todo('test', 'pending')] },
            },
          ],
        },
        {
          calls: [
            { name: 'StrReplace', args: { path: 'main.ts', old_string: 'a = 1', new_string: 'a = 10' } },
            { name: 'StrReplace', args: { path: 'main.ts', old_string: 'b = 2', new_string: 'b = 20' } },
          ],
        },
        { text: 'Changed.', calls: [{ name: 'TodoWrite', args: { merge: true, todos: [todo('edit', 'completed')] } }] },
        { text: 'Both are ten times as large.' },
      ],
    },
    {
      says: 'write a new file and test it',
      answers: [
        {
          calls: [
            { name: 'Write', args: { path: 'new.ts', contents: 'export const c = 3;\n' } },
            { name: 'Write', args: { path: 'old.txt', contents: 'new\n' } },
            { name: 'Shell', args: { command: 'npm test' } },
          ],
        },
        {
          calls: [
            { name: 'StrReplace', args: { path: 'new.ts', old_string: 'c = 3', new_string: 'c = 30' } },
            { name: 'Delete', args: { path: 'old.txt' } },
          ],
        },
        { text: 'Written, tested and tidied up.' },
      ],
    },
    {
      says: 'finish the list',
      answers: [
        { calls: [{ name: 'TodoWrite', args: { merge: true, todos: [todo('test', 'completed')] } }] },
        { text: 'Nothing is left.' },
      ],
    },
  ],
};
