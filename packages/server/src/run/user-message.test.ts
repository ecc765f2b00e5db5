import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { blobKey } from '@tandem/protocol';
import { UserMessageSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { RecordedOutbox, StandingClock, recordedLog } from '../../test/recorded-outbox.ts';
import { KvBridge, blobIdOf } from '../bridge/kv.ts';
import { RunBlobs } from '../conversation/blobs.ts';
import { userModelMessage } from './user-message.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));
const PNG = bytes('\x89PNG\r\n\x1a\n....');

/** Reads a message for which the client has these blobs and no others. */
function read(message: MessageInitShape<typeof UserMessageSchema>, ...held: Uint8Array[]) {
  const preFetched = held.map(value => ({ id: blobIdOf(value), value }));
  const kv = new KvBridge({ outbox: new RecordedOutbox(), clock: new StandingClock(), log: recordedLog().log });
  kv.get = async () => undefined;
  const blobs = new RunBlobs({
    kv,
    cache: { get: async () => undefined, put: async () => {} },
    scope: { owner: 'me' },
    preFetched,
  });
  return userModelMessage(create(UserMessageSchema, message), blobs);
}

describe('a message of the user as the model reads it (§8)', () => {
  it('is its text, with its id where it has one', async () => {
    expect(await read({ text: 'hello' })).toEqual({ role: 'user', content: 'hello' });
    expect(await read({ text: 'hello', messageId: 'm1' })).toEqual({ role: 'user', content: 'hello', id: 'm1' });
  });

  it('is read from a blob only when there is no text', async () => {
    const text = bytes('from a blob');
    expect((await read({ textBlobId: blobIdOf(text) }, text)).content).toBe('from a blob');
    expect((await read({ text: 'here', textBlobId: blobIdOf(text) }, text)).content).toBe('here');
  });

  it('may have its text inline where the id should be (R39)', async () => {
    expect((await read({ textBlobId: bytes('short text') })).content).toBe('short text');
  });

  it('fails with the id of its text when nobody has it', async () => {
    const id = blobIdOf(bytes('gone'));
    await expect(read({ textBlobId: id })).rejects.toMatchObject({
      name_: 'blob_missing',
      detail: expect.stringContaining(blobKey(id)) as string,
    });
  });

  it('has what was selected in front, each in a tag that says what it is', async () => {
    const { content } = await read({
      text: 'explain',
      selectedContext: {
        files: [{ path: '/w/a.ts', relativePath: 'a.ts', content: 'let a;' }],
        codeSelections: [{ path: '/w/b.ts', content: 'let b;', range: { start: { line: 3 }, end: { line: 5 } } }],
        folders: [{ path: '/w/src', relativePath: 'src' }],
        terminals: [{ title: 'zsh', content: '$ ls' }],
        externalLinks: [{ url: 'https://example.org/' }],
        extraContext: ['more'],
      },
      hookAdditionalContexts: [{ content: 'the hook says hi' }],
    });
    expect(content).toBe(
      [
        '<attached_file path="a.ts">\nlet a;\n</attached_file>',
        '<attached_selection path="/w/b.ts" lines="3-5">\nlet b;\n</attached_selection>',
        '<attached_folder>\nsrc\n</attached_folder>',
        '<attached_terminal title="zsh">\n$ ls\n</attached_terminal>',
        '<attached_link url="https://example.org/">\nhttps://example.org/\n</attached_link>',
        '<attached_context>\nmore\n</attached_context>',
        '<hook_context>\nthe hook says hi\n</hook_context>',
        'explain',
      ].join('\n\n'),
    );
  });

  it('has images as parts after the text, inline or from blobs, with the type that was said or that the bytes say', async () => {
    const gif = bytes('GIF89a......');
    const { content } = await read(
      {
        text: 'look',
        selectedContext: {
          selectedImages: [
            { dataOrBlobId: { case: 'data', value: PNG }, mimeType: 'image/png' },
            { dataOrBlobId: { case: 'blobId', value: blobIdOf(gif) } },
            { dataOrBlobId: { case: 'blobIdWithData', value: { data: PNG } } },
          ],
        },
      },
      gif,
    );
    const png = Buffer.from(PNG).toString('base64');
    expect(content).toEqual([
      { type: 'text', text: 'look' },
      { type: 'image', image: `data:image/png;base64,${png}` },
      { type: 'image', image: `data:image/gif;base64,${Buffer.from(gif).toString('base64')}` },
      { type: 'image', image: `data:image/png;base64,${png}` },
    ]);
  });

  it('says that an image is missing when nobody has its data, and goes on', async () => {
    const selectedImages = [{ dataOrBlobId: { case: 'blobId' as const, value: blobIdOf(PNG) }, path: 'shot.png' }];
    expect((await read({ text: 'look', selectedContext: { selectedImages } })).content).toBe(
      '[An image (shot.png) was attached, but its data could not be had.]\n\nlook',
    );
  });
});
