/** The Levenshtein distance of two words: how many characters have to be added, dropped or changed. */
export function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The longest word that is compared; a longer one is no misspelling of a name. */
const LONGEST = 200;

/**
 * The candidates that a person may have meant, nearest first: few changes away, or one inside the other. All of them that tie
 * come in their own order.
 */
export function nearestTo(word: string, candidates: readonly string[], count: number): string[] {
  const wanted = word.slice(0, LONGEST).toLowerCase();
  return [...new Set(candidates)]
    .map(candidate => {
      const name = candidate.toLowerCase();
      const isInside = wanted.length > 1 && (name.includes(wanted) || wanted.includes(name));
      const distance = distanceOf(wanted, name.slice(0, LONGEST));
      return {
        candidate,
        rank: isInside ? Math.min(distance, 1) : distance,
        limit: Math.max(2, Math.floor(name.length / 3)),
      };
    })
    .filter(({ rank, limit }) => rank <= limit)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}
