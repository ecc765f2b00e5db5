import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../test/surroundings.ts';
import { attachFiles } from './attachments.ts';

it('[product-attachments] puts a text file below the prompt that names it', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'a b.txt'), 'one\n');
  writeFileSync(join(folder, 'c.md'), 'x ``` y');
  expect(attachFiles('See @"a b.txt" and @c.md.', folder)).toEqual({
    prompt:
      'See @"a b.txt" and @c.md.\n\nAttached file a b.txt:\n```\none\n```\n\nAttached file c.md:\n````\nx ``` y\n````',
    images: [],
    notices: [],
  });
});

it('[product-attachments] takes an image along', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'p.PNG'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]));
  expect(attachFiles('@p.PNG what is it?', folder)).toEqual({
    prompt: '@p.PNG what is it?',
    images: [{ mimeType: 'image/png', data: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0) }],
    notices: [],
  });
});

it('leaves what is no file as it was typed', () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'dir'));
  const prompt = 'mail a@b.c about @types/node, @dir and @nobody';
  expect(attachFiles(prompt, folder)).toEqual({ prompt, images: [], notices: [] });
});

it('[product-attachments] says which names look like files and are none', () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'src'));
  const prompt = 'See @nofile.md, @./there, @src/gone and @"my notes"; not @types/node or @src.';
  expect(attachFiles(prompt, folder)).toEqual({
    prompt,
    images: [],
    notices: ['nofile.md', './there', 'src/gone', 'my notes'].map(
      path => `There is no file ${path}, so @${path} is taken as text.`,
    ),
  });
});

it('refuses what is too long or neither text nor image', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'long.txt'), Buffer.alloc(256 * 1024 + 1, 'a'));
  writeFileSync(join(folder, 'x.bin'), Buffer.from([1, 0, 2]));
  expect(attachFiles('@long.txt', folder)).toEqual({ problem: expect.stringContaining('at most 262144') });
  expect(attachFiles('@x.bin', folder)).toEqual({ problem: expect.stringContaining('neither text nor an image') });
});
