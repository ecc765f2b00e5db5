import { expect, it } from 'vitest';
import { deniedText } from './denied.ts';

it('says once that a run is read-only, whoever says it', () => {
  const [what, ours] = ['a.txt was not deleted', 'this run is read-only, so a.txt was left alone'];
  expect(deniedText(what, { isReadonly: true, error: ours })).toBe(`Permission denied: ${what}: ${ours}`);
  expect(deniedText(what, { isReadonly: true, error: '' })).toBe(`Permission denied: ${what}, this run is read-only.`);
  expect(deniedText(what, { isReadonly: true, error: 'EROFS' })).toBe(
    `Permission denied: ${what}, this run is read-only. EROFS`,
  );
  expect(deniedText(what, { isReadonly: false, error: '' })).toBe(`Permission denied: ${what}.`);
});
