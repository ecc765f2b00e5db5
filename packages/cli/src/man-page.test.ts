import { expect, it } from 'vitest';
import { manPage } from './man-page.ts';
import { makeProgram } from './program.ts';

const page = manPage(makeProgram(() => Promise.resolve()));

it('[product-man-page] is the page that is packed; vitest -u writes it anew', async () => {
  await expect(page).toMatchFileSnapshot('../man/tandem.1');
});

it('[product-man-page] has every command and flag, with dashes that can be copied', () => {
  expect(page).toContain('.SS "tandem run [options] [prompt]"');
  expect(page).toContain('.B \\-\\-permission <mode>');
  expect(page.match(/^\.SS /gm)).toHaveLength(11);
});

it('[product-man-page] keeps the quotes of a line that can be copied, and has environment, files and exit codes', () => {
  expect(page).toContain('.I tandem run \\(dqWhy does the build fail?\\(dq');
  expect(page).toContain('.B 130');
  expect(page).toContain('.SH ENVIRONMENT\n.TP\n.B TANDEM_API_KEY\n');
  expect(page).toContain('.B \\(ti/.config/tandem/permissions.json\n');
  const quoted = page.split('\n').filter(line => /^\.(?:B|I) .*["~]/.test(line));
  expect(quoted).toEqual([]);
});

it('has no line that roff takes for a request of ours by accident', () => {
  const requests = page.split('\n').flatMap(line => /^[.']\S*/.exec(line)?.[0] ?? []);
  expect([...new Set(requests)].toSorted()).toEqual(['.B', '.I', '.PP', '.SH', '.SS', '.TH', '.TP', '.br']);
});
