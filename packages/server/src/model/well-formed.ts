/**
 * A copy without lone surrogates, in every string at any depth (P22): providers refuse a request that has one. Values that
 * are in order are returned as they are.
 */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return (value.isWellFormed() ? value : value.toWellFormed()) as T;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (const [at, item] of value.entries()) {
      const mended: unknown = wellFormed(item as unknown);
      if (mended !== item) (copy ??= [...(value as unknown[])])[at] = mended;
    }
    return (copy ?? value) as T;
  }
  if (typeof value !== 'object' || value === null) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const mended = [wellFormed(key), wellFormed(item as unknown)] as const;
    if (mended[0] !== key || mended[1] !== item) changed = true;
    return mended;
  });
  return changed ? (Object.fromEntries(entries) as T) : value;
}
