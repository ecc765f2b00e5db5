import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '@tandem/protocol/message';
import { deflateSync } from 'node:zlib';
import { crc32 } from 'node:zlib';
import { ImageFitting } from './fit-images.ts';
import type { Shrink } from './fit-images.ts';

const LIMITS = { types: ['image/png', 'image/jpeg'], bytes: 4_000, side: 100 };

/** A PNG of one colour, with so many bytes of nothing in a chunk that no reader knows. */
function png(width: number, height: number, filling = 0): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(data.length);
    head.write(type, 4, 'latin1');
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), data])));
    return Buffer.concat([head, data, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 0], 8);
  const pixels = deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('teXt', Buffer.alloc(filling)),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const uri = (data: Buffer, type = 'image/png') => `data:${type};base64,${data.toString('base64')}`;
const userWith = (...images: string[]): ModelMessage => ({
  role: 'user',
  content: [{ type: 'text', text: 'look' }, ...images.map(image => ({ type: 'image', image }))],
});
const none: Shrink = () => Promise.resolve(undefined);

describe('images for a provider', () => {
  it('[product-image-limits] go as they are when it takes them, whatever type they claim to be', async () => {
    const message = userWith(uri(png(10, 10), 'image/jpeg'), 'https://example.org/a.png');
    const { messages, refused } = await new ImageFitting(LIMITS, none).fit([message]);
    expect(messages[0]).toBe(message);
    expect(refused).toEqual([]);
  });

  it.each([
    ['are too large', uri(png(10, 10, 5_000)), /^it has 0\.00 MiB, and 0\.00 MiB are taken$/],
    ['have too many pixels', uri(png(101, 10)), /^it is 101 by 10 pixels, and 100 are taken$/],
    [
      'are of another type',
      uri(Buffer.from('GIF89a\x0a\x00\x0a\x00', 'latin1'), 'image/png'),
      /^it is of type image\/gif, and png, jpeg are taken$/,
    ],
    ['cannot be read', uri(Buffer.from('not an image at all')), /^its data is no image that can be read$/],
  ])(
    '[product-image-limits] become a note with the reason when they %s and nothing can shrink them',
    async (_, image, why) => {
      const { messages, refused } = await new ImageFitting(LIMITS, none).fit([
        userWith('https://x.org/'),
        userWith(image),
      ]);
      expect(refused).toEqual([{ part: { type: 'image', image }, why: expect.stringMatching(why), message: 1 }]);
      const [, note] = messages[1]!.content as { type: string; text: string }[];
      expect(note).toMatchObject({
        type: 'text',
        text: expect.stringContaining('Tell the user that it was not looked at'),
      });
    },
  );

  it('[product-image-limits] are shrunk once when something can, those of tool results too', async () => {
    const small = png(5, 5);
    let shrunk = 0;
    const shrink: Shrink = () => {
      shrunk++;
      return Promise.resolve({ data: small, mediaType: 'image/png' });
    };
    const large = uri(png(200, 10));
    const result = {
      type: 'tool-result',
      toolCallId: 'c',
      toolName: 'Read',
      result: [{ type: 'image', image: large }],
    };
    const history: ModelMessage[] = [userWith(large), { role: 'tool', content: [result] }];
    const fitting = new ImageFitting(LIMITS, shrink);
    const first = await fitting.fit(history);
    const second = await fitting.fit([...history, userWith(uri(small))]);
    expect(shrunk).toBe(2);
    expect(JSON.stringify(second.messages.slice(0, 2))).toBe(JSON.stringify(first.messages)); // R47
    expect(JSON.stringify(first.messages)).not.toContain(large);
    expect(JSON.stringify(first.messages).split(small.toString('base64'))).toHaveLength(3);
    expect(JSON.stringify(history)).toContain(large); // the history keeps what the user sent
  });
});
