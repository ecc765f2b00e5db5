/** Values pushed by callbacks, read by one loop. It holds what was pushed; whoever pushes keeps it bounded. */
export class AnswerQueue<Value> implements AsyncIterable<Value> {
  private readonly values: Value[] = [];
  private wake: (() => void) | undefined;
  private ended = false;
  private failure: Error | undefined;

  push(value: Value): void {
    if (this.ended) return;
    this.values.push(value);
    this.wake?.();
  }

  /** No more values; with an error the loop throws it after the last value. */
  end(failure?: Error): void {
    if (this.ended) return;
    this.ended = true;
    this.failure = failure;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    for (;;) {
      while (this.values.length > 0) yield this.values.shift()!;
      if (this.ended) break;
      await new Promise<void>(resolve => (this.wake = resolve));
    }
    if (this.failure !== undefined) throw this.failure;
  }
}
