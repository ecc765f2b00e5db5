import { expect, it } from 'vitest';
import { startHouse } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';

/** The beginning of a PNG with its sides, and so many bytes in all. */
function png(width: number, height: number, bytes = 100): Buffer {
  const data = Buffer.alloc(bytes);
  data.write('\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR', 'latin1');
  data.writeUInt32BE(width, 16);
  data.writeUInt32BE(height, 20);
  return data;
}

const withImage = (data: Buffer, mimeType = 'image/png') => ({
  selectedContext: { selectedImages: [{ dataOrBlobId: { case: 'data', value: data }, mimeType }] },
});
const notices = (peer: Peer) =>
  peer.updates('textDelta').flatMap(({ isServerNotice, text }) => (isServerNotice ? [text] : []));

it('[product-image-limits] P24: an image that the provider would refuse is left out with a note and a notice, in its own turn alone', async () => {
  const provider = await startProvider({ answers: () => ({ text: 'seen' }) });
  const models = [
    { id: 'sees', vision: true },
    { id: 'blind', name: 'Blind', vision: false },
  ];
  const groq = { type: 'groq', baseUrl: provider.baseUrl, apiKey: 'k', models };
  const house = await startHouse({ config: { providers: { groq }, defaultModel: 'groq/sees' } });
  const sent = () => JSON.stringify(provider.requests.at(-1)!.body.messages);

  const peer = await house.peer({ model: 'sees' }).turn('look', {}, withImage(png(10, 10)));
  expect([peer.text, notices(peer)]).toEqual(['seen', []]);
  expect(sent()).toContain('image_url');

  const large = await peer
    .next()
    .turn('and this', { conversationState: peer.state }, withImage(png(10, 10, 4_000_000)));
  expect(large.text).toBe('seen');
  expect(notices(large)).toEqual([
    expect.stringMatching(
      /^An image was left out, because groq would refuse it: it has 3\.81 MiB, and 3\.00 MiB are taken\./,
    ),
  ]);
  expect(sent().match(/image_url/g)).toHaveLength(2); // the type and the field of the first image alone
  expect(sent()).toContain('Tell the user that it was not looked at');

  const later = await large.next().turn('thanks', { conversationState: large.state });
  expect(notices(later)).toEqual([]);
  expect(sent()).toContain('Tell the user that it was not looked at');

  const blind = await later
    .next({ model: 'blind' })
    .turn('this?', { conversationState: later.state }, withImage(png(9, 9)));
  expect(notices(blind)).toEqual([]);
  expect(sent()).toContain('tell the user that it was not looked at');
  expect(sent()).not.toContain('image_url');
  await house.close();
  await provider.close();
});
