/** What was found before, by name; forgotten all at once when it is too much. Plays differ in ids, so most of it is used for a while only. */
export class Memo<T> {
  readonly #known = new Map<string, T>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** What is known under a name, or what `find` finds, which is kept. */
  get(name: string, find: () => T): T {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#most) this.#known.clear();
    const found = find();
    this.#known.set(name, found);
    return found;
  }
}
