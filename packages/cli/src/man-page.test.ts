import { expect, it } from 'vitest';
import { manPage } from './man-page.ts';
import { makeProgram } from './program.ts';

const page = manPage(makeProgram(() => Promise.resolve()));

it('is the page that is packed; vitest -u writes it anew', async () => {
  await expect(page).toMatchFileSnapshot('../man/tandem.1');
});

it('has every command and flag, with dashes that can be copied', () => {
  expect(page).toContain('.SS "tandem run [options] [prompt]"');
  expect(page).toContain('.B \\-\\-permission <mode>');
  expect(page.match(/^\.SS /gm)).toHaveLength(9);
});

it('has no line that roff takes for a request of ours by accident', () => {
  const requests = page.split('\n').flatMap(line => /^[.']\S*/.exec(line)?.[0] ?? []);
  expect([...new Set(requests)].toSorted()).toEqual(['.B', '.I', '.PP', '.SH', '.SS', '.TH', '.TP', '.br']);
});
