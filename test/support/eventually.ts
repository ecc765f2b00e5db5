/** Real time, a guard against hanging only: many times what anything here takes. */
const HANG_MS = 30_000;

/** Looks after every turn of the event loop until `look` gives something true; for what no frame and no answer announces. */
export async function eventually<T>(look: () => T, what: string): Promise<Exclude<T, false | undefined>> {
  const started = Date.now();
  for (;;) {
    const found = look();
    if (found) return found as Exclude<T, false | undefined>;
    if (Date.now() - started > HANG_MS) throw new Error(`hangs: no ${what}`);
    await new Promise<void>(resolve => setImmediate(resolve));
  }
}
