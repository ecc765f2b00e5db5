import type { Conversation } from '../conversation.ts';
import { Hands } from '../hands.ts';

const MIB = 1024 * 1024;
const PNG = Uint8Array.from([
  0x89,
  0x50,
  0x4e,
  0x47,
  0x0d,
  0x0a,
  0x1a,
  0x0a,
  ...Array.from({ length: 2000 }, (_, index) => (index * 31) % 256),
]);
const LARGE = `${'long lines of no interest, '.repeat(40)}\n`.repeat(Math.ceil((1.1 * MIB) / 1_081));

/** Thinking, text and tools over many model calls, with a result above 1 MiB and images both ways. */
export const large: Conversation = {
  name: 'large',
  hands() {
    const hands = new Hands({ 'large.txt': LARGE, 'small.log': 'small\n' });
    hands.images.set('picture.png', PNG);
    return hands;
  },
  turns: [
    {
      says: 'what is in this picture',
      message: {
        selectedContext: {
          selectedImages: [{ uuid: 'one', mimeType: 'image/png', dataOrBlobId: { case: 'data', value: PNG } }],
        },
      },
      answers: [
        {
          thinking: 'They sent a picture; I compare it with theirs.',
          text: 'I compare.',
          calls: [{ name: 'Read', args: { path: 'picture.png' } }],
        },
        { thinking: 'The same.', text: 'It is the one in your folder.' },
      ],
    },
    {
      says: 'read the large file',
      answers: [
        { thinking: 'It may be large.', calls: [{ name: 'Read', args: { path: 'large.txt' } }] },
        {
          thinking: 'Now the small one.',
          text: 'That was a lot.',
          calls: [{ name: 'Read', args: { path: 'small.log' } }],
        },
        { text: 'And a command.', calls: [{ name: 'Shell', args: { command: 'wc large.txt' } }] },
        { thinking: 'Enough.', text: 'A large file of dull lines.' },
      ],
    },
    { says: 'thank you', answers: [{ thinking: 'They are done.', text: 'You are welcome.' }] },
  ],
};
