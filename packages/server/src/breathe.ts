/** Work on this many bytes takes about a millisecond: less is not worth a turn of the loop. */
const LONG_BYTES = 512 * 1024;

/**
 * Lets everything else have its turn after, or before, long work: streams that share this process wait for the longest piece of
 * work between two breaths. Undefined when the work is short.
 * @param bytes what the work goes through
 */
export function breathe(bytes: number): Promise<void> | undefined {
  if (bytes < LONG_BYTES) return undefined;
  // what the first turn brings in has its own frames written in the second one
  return new Promise(resolve => setImmediate(() => setImmediate(resolve)));
}
