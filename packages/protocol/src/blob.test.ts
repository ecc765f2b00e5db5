import { readFileSync } from 'node:fs';
import { ScalarType, create } from '@bufbuild/protobuf';
import type { DescField } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import * as agent from './agent.ts';
import { blobKey, collectBlobIds, collectBlobLinks, isBlobId } from './blob.ts';
import { blobReferences, plainBytesFields } from './blob-table.ts';
import { messageSchemas } from './schema.ts';

const messages = [...messageSchemas.values()];

const nameOf = (field: DescField) => `${field.parent.typeName}.${field.name}`;

describe('the tables of bytes fields', () => {
  it('[R40-every-bytes-field-known] together name every bytes field of the schema, map values too, each once', () => {
    const bytes = messages.flatMap(message => message.fields).filter(field => field.scalar === ScalarType.BYTES);
    const named = [...blobReferences.map(row => `${row.message}.${row.field}`), ...plainBytesFields];
    expect(named.sort()).toEqual(bytes.map(nameOf).sort());
    const maps = bytes.filter(field => field.fieldKind === 'map').map(nameOf);
    expect(
      blobReferences
        .filter(row => row.map)
        .map(row => `${row.message}.${row.field}`)
        .sort(),
    ).toEqual(maps.sort());
  });

  it('say what the table of the specification says', () => {
    const text = readFileSync(new URL('../tables/blobs.tsv', import.meta.url), 'utf8');
    const rows = blobReferences.map(
      row => `${row.message}\t${row.field}${row.map ? ' (map value)' : ''}\t${row.holds}`,
    );
    expect(rows).toEqual(
      text
        .split('\n')
        .slice(1)
        .filter(line => line !== ''),
    );
  });

  it('refer to messages that exist', () => {
    const held = blobReferences.map(row => row.holds).filter(holds => holds.startsWith('agent.v1.'));
    expect(held.filter(holds => !messageSchemas.has(holds))).toEqual([]);
  });
});

describe('blob ids', () => {
  const id = (byte: number) => new Uint8Array(32).fill(byte);

  it('are 32 bytes, and hex as a key', () => {
    expect(isBlobId(id(1))).toBe(true);
    expect(isBlobId(new Uint8Array(31))).toBe(false);
    expect(blobKey(id(0xab))).toBe('ab'.repeat(32));
  });

  it('are found in single, repeated and map fields, and in messages inside', () => {
    const state = create(agent.ConversationStateStructureSchema, {
      rootPromptMessagesJson: [id(1), id(2), new Uint8Array([0x7b, 0x7d])],
      summary: id(3),
      fileStates: { a: id(4) },
      fileStatesV2: { b: { content: id(5) } },
      subagentStates: { c: { conversationState: { turns: [id(6)] } } },
      tokenDetails: { promptContextUsageSnapshotBlobId: id(7) },
    });
    const found = [...collectBlobIds(agent.ConversationStateStructureSchema, state)].map(bytes => bytes[0]);
    expect(found.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('come with the field that refers; inline content is left to the caller', () => {
    const inline = new Uint8Array([0x7b, 0x7d]);
    const state = create(agent.ConversationStateStructureSchema, { rootPromptMessagesJson: [inline], summary: id(3) });
    const links = [...collectBlobLinks(agent.ConversationStateStructureSchema, state)];
    expect(links.map(link => [link.reference.field, link.value])).toEqual([
      ['root_prompt_messages_json', inline],
      ['summary', id(3)],
    ]);
  });

  it('are found in the branch of a oneof that is set', () => {
    const image = create(agent.SelectedImageSchema, {
      dataOrBlobId: { case: 'blobIdWithData', value: { blobId: id(9), data: id(8) } },
    });
    expect([...collectBlobIds(agent.SelectedImageSchema, image)]).toEqual([id(9)]);
  });
});
