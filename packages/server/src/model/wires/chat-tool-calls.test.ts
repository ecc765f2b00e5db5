import { describe, expect, test } from 'vitest';
import type { ToolCallPiece } from './chat-tool-calls.ts';
import { ToolCallPieces } from './chat-tool-calls.ts';

const piece = (index: unknown, id: unknown, name: unknown, text: unknown): ToolCallPiece => ({
  index,
  id,
  function: { name, arguments: text },
});

/** The calls that the pieces make: id, name, arguments. */
function callsOf(pieces: ToolCallPiece[]): [id: string, name: string, args: string][] {
  const calls = new ToolCallPieces();
  const made: [string, string, string][] = [];
  for (const owned of [...pieces.map(each => calls.push(each)), ...calls.finish()]) {
    if (!owned) continue;
    if (owned.name !== undefined) made[owned.index] = [owned.id ?? '', owned.name, owned.text];
    else made[owned.index]![2] += owned.text;
  }
  return made;
}

describe('pieces of tool calls', () => {
  test('that interleave belong to the call of their index [P11]', () => {
    expect(
      callsOf([
        piece(0, 'a', 'Read', ''),
        piece(1, 'b', 'Ls', ''),
        piece(0, undefined, undefined, '{"x"'),
        piece(1, undefined, undefined, '{"y"'),
        piece(0, null, null, ':1}'),
        piece(1, null, null, ':2}'),
      ]),
    ).toEqual([
      ['a', 'Read', '{"x":1}'],
      ['b', 'Ls', '{"y":2}'],
    ]);
  });

  test('that all have index 0 are told apart by their ids, announced first or not [P09]', () => {
    const expected = [
      ['a', 'Read', '{"x":1}'],
      ['b', 'Read', '{"x":2}'],
    ];
    expect(callsOf([piece(0, 'a', 'Read', '{"x":1}'), piece(0, 'b', 'Read', '{"x":2}')])).toEqual(expected);
    expect(
      callsOf([
        piece(0, 'a', 'Read', ''),
        piece(0, 'b', 'Read', ''),
        piece(0, 'a', null, '{"x":1}'),
        piece(0, 'b', null, '{"x":2}'),
      ]),
    ).toEqual(expected);
  });

  test('that all have index 0 and no id are told apart by complete arguments or another name', () => {
    expect(
      callsOf([piece(0, '', 'Read', '{"x":1}'), piece(0, '', 'Read', '{"x":2}'), piece(0, '', 'Ls', '{}')]),
    ).toEqual([
      ['', 'Read', '{"x":1}'],
      ['', 'Read', '{"x":2}'],
      ['', 'Ls', '{}'],
    ]);
  });

  test('without an index are one call each when they are whole', () => {
    expect(
      callsOf([
        piece(undefined, 'a', 'Read', '{}'),
        piece(undefined, 'b', 'Read', '{}'),
        piece(undefined, '', 'Ls', ''),
      ]),
    ).toEqual([
      ['a', 'Read', '{}'],
      ['b', 'Read', '{}'],
      ['', 'Ls', ''],
    ]);
  });

  test('that repeat id and name, or change the id on the way, stay one call', () => {
    expect(callsOf([piece(0, 'a', 'Read', '{"x"'), piece(0, 'a', 'Read', ':1}'), piece(0, 'a', 'Read', '')])).toEqual([
      ['a', 'Read', '{"x":1}'],
    ]);
    expect(callsOf([piece(0, 'a', 'Read', '{"x"'), piece(0, 'z', null, ':1}')])).toEqual([['a', 'Read', '{"x":1}']]);
  });

  test('with one id for several indices are several calls', () => {
    expect(
      callsOf([
        piece(0, 's', 'Read', ''),
        piece(1, 's', 'Read', ''),
        piece(0, 's', null, '{"x":1}'),
        piece(1, 's', null, '{"x":2}'),
      ]),
    ).toEqual([
      ['s', 'Read', '{"x":1}'],
      ['s', 'Read', '{"x":2}'],
    ]);
  });

  test('wait for a name, and get one at the end when none came', () => {
    expect(callsOf([piece(0, 'a', undefined, '{"x"'), piece(0, undefined, 'Read', ':1}')])).toEqual([
      ['a', 'Read', '{"x":1}'],
    ]);
    expect(callsOf([piece(0, 'a', '', '{}')])).toEqual([['a', 'unnamed_tool', '{}']]);
  });

  test('with arguments as an object, or with an index as a text, are read', () => {
    expect(callsOf([piece('0', 'a', 'Read', { x: 1 }), { index: '1', id: 'b', function: { name: 'Ls' } }])).toEqual([
      ['a', 'Read', '{"x":1}'],
      ['b', 'Ls', ''],
    ]);
  });
});
