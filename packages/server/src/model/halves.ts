/**
 * Joins characters that a provider cut in two (R26): a first half at the end of a delta waits for the next delta of the same
 * place; halves that stay alone become U+FFFD.
 */
export class CharacterHalves {
  readonly #halves = new Map<string, string>();

  /** The text of a delta that can be shown now; empty when all of it waits. */
  push(place: string, delta: string): string {
    const half = this.#halves.get(place);
    let text = half === undefined ? delta : half + delta;
    if (half !== undefined) this.#halves.delete(place);
    const last = text.charCodeAt(text.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#halves.set(place, text.slice(-1));
      text = text.slice(0, -1);
    }
    return text.isWellFormed() ? text : text.toWellFormed();
  }

  /** What still waits at a place, to be said at its end. */
  rest(place: string): string {
    const half = this.#halves.get(place) ?? '';
    this.#halves.delete(place);
    return half.toWellFormed();
  }
}
