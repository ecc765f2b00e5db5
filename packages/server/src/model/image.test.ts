import { expect, test } from 'vitest';
import { readImage } from './image.ts';

test.each([
  ['data:image/png;base64,AAAA', undefined, { mediaType: 'image/png', base64: 'AAAA' }],
  ['data:image/gif;charset=x;base64,AAAA', undefined, { mediaType: 'image/gif', base64: 'AAAA' }],
  ['data:;base64,/9j/AAAA', undefined, { mediaType: 'image/jpeg', base64: '/9j/AAAA' }],
  ['AAAA', 'image/webp', { mediaType: 'image/webp', base64: 'AAAA' }],
  ['UklGRAAAA', undefined, { mediaType: 'image/webp', base64: 'UklGRAAAA' }],
  ['AAAA', 'application/octet-stream', { mediaType: 'image/png', base64: 'AAAA' }],
  ['https://example.org/a.png', undefined, { url: 'https://example.org/a.png' }],
  ['https://', undefined, undefined],
  ['data:image/svg+xml,<svg/>', undefined, undefined],
  ['', 'image/png', undefined],
])('the image %s with type %s is read as %o', (image, mediaType, expected) => {
  expect(readImage({ type: 'image', image, ...(mediaType !== undefined && { mediaType }) })).toEqual(expected);
});
