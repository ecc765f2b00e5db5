import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { TodoItemSchema } from '@tandem/protocol/agent';
import type { TodoItem } from '@tandem/protocol/agent';
import type { Log } from '../observe/log.ts';
import type { RunBlobs } from './blobs.ts';

/** The todo list behind the references of a state (R52). An entry that cannot be read is left out: the list is a view, not the history. */
export async function restoreTodos(blobs: RunBlobs, references: readonly Uint8Array[], log: Log): Promise<TodoItem[]> {
  const all = await blobs.getAll(references);
  return all.flatMap(({ data }, index) => {
    try {
      return [fromBinary(TodoItemSchema, data)];
    } catch {
      log.warn({ index }, 'a todo of the state could not be read');
      return [];
    }
  });
}

export function todoReferences(blobs: RunBlobs, todos: readonly TodoItem[]): Uint8Array[] {
  return todos.map(todo => blobs.put(toBinary(TodoItemSchema, todo)));
}
