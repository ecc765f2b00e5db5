import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { TodoItemSchema, TodoStatus, UpdateTodosToolCallSchema } from '@tandem/protocol/agent';
import type { TodoItem, UpdateTodosResultSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { TODO_ITEMS } from './limits.ts';
import { failure, success } from './outcome.ts';
import type { Card, Tool } from './tool.ts';

const STATUS = {
  pending: TodoStatus.PENDING,
  in_progress: TodoStatus.IN_PROGRESS,
  completed: TodoStatus.COMPLETED,
  cancelled: TodoStatus.CANCELLED,
} as const;
type StatusName = keyof typeof STATUS;
const STATUS_NAMES = Object.keys(STATUS) as [StatusName, ...StatusName[]];

const schema = z.object({
  merge: z
    .boolean()
    .describe(
      'true: change and add the todos named here, keep the others. false: the list becomes what is named here.',
    ),
  todos: z
    .array(
      z.object({
        id: z.string().min(1).describe('Name of the todo, the same in every call.'),
        content: z
          .string()
          .optional()
          .describe('What is to be done. May be left out in a merge when it stays the same.'),
        status: z.enum(STATUS_NAMES).optional().describe('Default: as before, pending for a new one.'),
      }),
    )
    .max(TODO_ITEMS)
    .describe('The todos.'),
});
type TodoWriteArguments = z.infer<typeof schema>;
type TodoInput = TodoWriteArguments['todos'][number];

function itemOf(input: TodoInput, before: TodoItem | undefined, now: bigint): TodoItem {
  return create(TodoItemSchema, {
    ...(before ?? { createdAt: now }),
    id: input.id,
    content: input.content || before?.content || '',
    status: input.status ? STATUS[input.status] : (before?.status ?? TodoStatus.PENDING),
    updatedAt: now,
  });
}

function todosCard(
  { merge = false, todos = [] }: Partial<TodoWriteArguments>,
  result?: MessageInitShape<typeof UpdateTodosResultSchema>['result'],
): Card {
  const inputs = todos.map(todo => ({
    id: todo.id,
    content: todo.content ?? '',
    status: todo.status ? STATUS[todo.status] : TodoStatus.UNSPECIFIED,
  }));
  return {
    case: 'updateTodosToolCall',
    value: create(UpdateTodosToolCallSchema, {
      args: { merge, todos: inputs },
      ...(result ? { result: { result } } : {}),
    }),
  };
}

/** Keeps the todo list of the conversation; nothing goes to the client but the card (R52). */
export const todoWriteTool: Tool<TodoWriteArguments> = {
  name: 'TodoWrite',
  aliases: ['todo_write', 'update_todos', 'UpdateTodos', 'write_todos'],
  argumentAliases: { items: 'todos' },
  card: 'updateTodosToolCall',
  description: [
    'Keeps a list of what is to be done, which the user sees. Use it for work of three steps or more:',
    'write the list, keep one todo in_progress at a time, mark each completed as soon as it is. Not for small tasks.',
  ].join(' '),
  schema,
  open: args => todosCard(args),
  close: (args, message) => todosCard(args, { case: 'error', value: { error: message } }),
  execute(args, context) {
    const now = BigInt(Math.trunc(context.now()));
    const before = new Map(context.todos.map(todo => [todo.id, todo]));
    const kept = args.merge ? new Map(before) : new Map<string, TodoItem>();
    for (const input of args.todos) {
      const item = itemOf(input, kept.get(input.id) ?? before.get(input.id), now);
      if (item.content === '') {
        const message = `The todo ${JSON.stringify(input.id)} has no content; nothing was changed.`;
        return Promise.resolve(failure(todoWriteTool.close(args, message, context), message));
      }
      kept.set(input.id, item);
    }
    const todos = [...kept.values()].slice(0, TODO_ITEMS);
    context.setTodos(todos);
    const card = todosCard(args, { case: 'success', value: { todos, totalCount: todos.length, wasMerge: args.merge } });
    return Promise.resolve(success(card, todosText(todos)));
  },
};

function todosText(todos: readonly TodoItem[]): string {
  if (todos.length === 0) return 'The todo list is empty.';
  const names = new Map(Object.entries(STATUS).map(([name, status]) => [status as TodoStatus, name]));
  return `The todo list is now:\n${todos.map(todo => `- [${names.get(todo.status) ?? 'pending'}] ${todo.id}: ${todo.content}`).join('\n')}`;
}
