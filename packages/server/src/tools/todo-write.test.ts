import { TodoStatus } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { openCard, runTool, scriptedCall } from '../../test/tools/scripted-exec.ts';
import { todoWriteTool } from './todo-write.ts';

const listOf = (todos: readonly { id: string; content: string; status: TodoStatus }[]) =>
  todos.map(({ id, content, status }) => [id, content, status]);

describe('TodoWrite', () => {
  const start = {
    merge: false,
    todos: [
      { id: 't1', content: 'dig', status: 'in_progress' as const },
      { id: 't2', content: 'fill' },
    ],
  };

  it('sets the list, and the card shows it', async () => {
    const call = scriptedCall({});
    const { text, args, result, isError } = await runTool(todoWriteTool, start, call);
    expect(call.calls).toEqual([]);
    expect(listOf(call.todos)).toEqual([
      ['t1', 'dig', TodoStatus.IN_PROGRESS],
      ['t2', 'fill', TodoStatus.PENDING],
    ]);
    expect(call.todos[0]).toMatchObject({ createdAt: 1_000_000n, updatedAt: 1_000_000n });
    expect(args.todos).toHaveLength(2);
    expect(result).toMatchObject({ case: 'success', value: { totalCount: 2, wasMerge: false } });
    expect(text).toBe('The todo list is now:\n- [in_progress] t1: dig\n- [pending] t2: fill');
    expect(isError).toBe(false);
  });

  it('merges by id: what is named changes, what is not named stays', async () => {
    const call = scriptedCall({});
    await runTool(todoWriteTool, start, call);
    await call.context.pause(5);
    await runTool(
      todoWriteTool,
      {
        merge: true,
        todos: [
          { id: 't1', status: 'completed' },
          { id: 't3', content: 'rest' },
        ],
      },
      call,
    );
    expect(listOf(call.todos)).toEqual([
      ['t1', 'dig', TodoStatus.COMPLETED],
      ['t2', 'fill', TodoStatus.PENDING],
      ['t3', 'rest', TodoStatus.PENDING],
    ]);
    expect(call.todos[0]).toMatchObject({ createdAt: 1_000_000n, updatedAt: 1_000_005n });
  });

  it('keeps everything in an empty merge, and nothing in an empty list', async () => {
    const call = scriptedCall({});
    await runTool(todoWriteTool, start, call);
    await runTool(todoWriteTool, { merge: true, todos: [] }, call);
    expect(call.todos).toHaveLength(2);
    const { text } = await runTool(todoWriteTool, { merge: false, todos: [] }, call);
    expect(call.todos).toEqual([]);
    expect(text).toBe('The todo list is empty.');
  });

  it('refuses a new todo without content and changes nothing', async () => {
    const call = scriptedCall({});
    await runTool(todoWriteTool, start, call);
    const { isError, result } = await runTool(todoWriteTool, { merge: true, todos: [{ id: 'new' }] }, call);
    expect([isError, result.case, call.todos.length]).toEqual([true, 'error', 2]);
  });

  it('opens and closes a card', () => {
    const { context } = scriptedCall({});
    expect(openCard(todoWriteTool.open({}, context), 'updateTodosToolCall').args.todos).toEqual([]);
    expect(openCard(todoWriteTool.close(start, 'cut', context), 'updateTodosToolCall').result.result).toMatchObject({
      case: 'error',
      value: { error: 'cut' },
    });
  });
});
