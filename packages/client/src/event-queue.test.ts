import { expect, it } from 'vitest';
import { EventQueue } from './event-queue.ts';
import { limits } from './limits.ts';

const drain = async (queue: EventQueue<number>) => {
  const seen: number[] = [];
  for (const events = queue.read(); ;) {
    const next = await events.next();
    if (next.done === true) return seen;
    seen.push(next.value);
  }
};

it('gives what was pushed before and after the reader came, in order, and ends', async () => {
  const queue = new EventQueue<number>();
  queue.push(1);
  const reading = drain(queue);
  queue.push(2);
  queue.end(3);
  queue.push(4);
  expect(await reading).toEqual([1, 2, 3]);
});

it('drops the oldest events when nobody reads, and keeps the end', async () => {
  const queue = new EventQueue<number>();
  for (let event = 0; event < limits.eventsWaiting + 10; event++) queue.push(event);
  expect(queue.room()).toBeUndefined();
  queue.end(-1);
  const seen = await drain(queue);
  expect(seen).toHaveLength(limits.eventsWaiting);
  expect(seen.at(-1)).toBe(-1);
});

it('makes the writer wait for a slow reader, and loses nothing', async () => {
  const queue = new EventQueue<number>();
  const events = queue.read();
  for (let event = 0; event < limits.eventsWaiting; event++) queue.push(event);
  let roomy = false;
  void queue.room()!.then(() => (roomy = true));
  await events.next();
  expect(roomy).toBe(false);
  for (let read = 1; read < limits.eventsWaiting; read++) expect((await events.next()).value).toBe(read);
  expect(roomy).toBe(true);
});

it('refuses a second reader at the same time', () => {
  const queue = new EventQueue<number>();
  queue.read();
  expect(() => queue.read()).toThrow(/one reader/);
});

it('lets the writer go on when the reader leaves its loop', async () => {
  const queue = new EventQueue<number>();
  const events = queue.read();
  for (let event = 0; event < limits.eventsWaiting; event++) queue.push(event);
  const room = queue.room();
  await events.return!();
  await room;
  expect(queue.room()).toBeUndefined();
});
