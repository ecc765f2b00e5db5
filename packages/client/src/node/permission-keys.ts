/** A permissions file that cannot be taken as it stands. Its message says what is wrong, where, and how to mend it. */
export class PermissionsFileError extends Error {
  override readonly name = 'PermissionsFileError';
}

/** Beginnings of this length are taken for the same word: `denied` is meant for `deny`. */
const BEGINNING = 3;
/** Letters that may be wrong in a slip of the hand. */
const SLIPS = 2;

/**
 * Looks at the keys of an object of a permissions file. A slip of a known key throws, since the rules below it would be lost in silence; other
 * unknown keys are returned, each as a sentence.
 *
 * @param place what the object is called in a message: the path of the file, or that with a key
 */
export function checkKeys(object: object, known: readonly string[], place: string): string[] {
  return Object.keys(object).flatMap(key => {
    if (known.includes(key)) return [];
    const meant = known.find(one => isSlipOf(key.toLowerCase(), one));
    if (meant !== undefined) throw new PermissionsFileError(`${place}: ${key}: unknown key, did you mean ${meant}?`);
    return [`${place}: ${key}: unknown key, which is not looked at; known are ${known.join(', ')}.`];
  });
}

function isSlipOf(key: string, known: string): boolean {
  return key.startsWith(known.slice(0, BEGINNING)) || editsBetween(key, known) <= SLIPS;
}

/** How many letters have to be added, left out or changed to make one word of the other. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 0; at < one.length; at++) {
    const next = [at + 1];
    for (let to = 1; to <= other.length; to++) {
      const changed = (row[to - 1] ?? 0) + (one[at] === other[to - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
