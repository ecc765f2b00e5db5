/**
 * What the model is told of a permission that was denied: `what` did not happen, and why. That the run is read-only is said once, in the
 * client's words where it has any.
 */
export function deniedText(what: string, { isReadonly, error }: { isReadonly: boolean; error: string }): string {
  if (/read-only/i.test(error)) return `Permission denied: ${what}: ${error}`;
  return `Permission denied: ${what}${isReadonly ? ', this run is read-only' : ''}.${error ? ` ${error}` : ''}`;
}
