import { expect, it } from 'vitest';
import { decodeText, encodeText, imageType } from './text-form.ts';

it.each<[string, number[], string]>([
  ['LF', [0x61, 0x0a], 'a\n'],
  ['CRLF', [0x61, 0x0d, 0x0a, 0x62, 0x0d, 0x0a], 'a\nb\n'],
  ['a byte order mark', [0xef, 0xbb, 0xbf, 0x61, 0x0a], 'a\n'],
  ['UTF-8', [0xe6, 0xbc, 0xa2], '漢'],
  ['UTF-16 with a mark', [0xff, 0xfe, 0x61, 0x00, 0x0d, 0x00, 0x0a, 0x00], 'a\n'],
  ['UTF-16, the other way', [0xfe, 0xff, 0x00, 0x61, 0x00, 0x0a], 'a\n'],
  ['Latin-1', [0x6e, 0x61, 0xef, 0x76, 0x65, 0x0a], 'naïve\n'],
  ['nothing', [], ''],
])('gives %s as LF text, and the same bytes back', (_what, bytes, text) => {
  const decoded = decodeText(Uint8Array.from(bytes))!;
  expect(decoded.text).toBe(text);
  expect([...encodeText(decoded.text, decoded.form)]).toEqual(bytes);
});

it('writes CRLF once, also when the text has it already', () => {
  const { form } = decodeText(Buffer.from('a\r\nb\r\n'))!;
  expect(Buffer.from(encodeText('x\r\ny\n', form)).toString()).toBe('x\r\ny\r\n');
});

it('takes the line end that most lines have', () => {
  expect(decodeText(Buffer.from('a\r\nb\nc\n'))!.form.lineEnd).toBe('\n');
  expect(decodeText(Buffer.from('a\r\nb\r\nc\n'))!.form.lineEnd).toBe('\r\n');
});

it('turns a Latin-1 file into UTF-8 when it gets a character that Latin-1 has not', () => {
  const { form } = decodeText(Uint8Array.of(0xef))!;
  expect(Buffer.from(encodeText('漢', form)).toString()).toBe('漢');
});

it('takes bytes with a NUL for no text', () => {
  expect(decodeText(Uint8Array.of(0x61, 0, 0x62))).toBeUndefined();
});

it('knows images by their first bytes', () => {
  expect(imageType(Buffer.from('89504e470d0a1a0a00', 'hex'))).toBe('image/png');
  expect(imageType(Buffer.from('ffd8ffe0', 'hex'))).toBe('image/jpeg');
  expect(imageType(Buffer.from('GIF89a'))).toBe('image/gif');
  expect(imageType(Buffer.from('RIFF1234WEBPVP8 '))).toBe('image/webp');
  expect(imageType(Buffer.from('hello'))).toBeUndefined();
});
