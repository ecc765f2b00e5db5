import { expect, test } from 'vitest';
import { toolSchema } from './tool-schema.ts';

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  [
    'leaves out what OpenAPI does not have',
    {
      additionalProperties: false,
      $schema: 'x',
      properties: { a: { type: 'number', exclusiveMinimum: 1, minimum: 0 } },
    },
    { type: 'object', properties: { a: { type: 'number', minimum: 0 } } },
  ],
  [
    'keeps integers integers',
    { properties: { n: { type: 'integer', format: 'int64' }, s: { type: 'string', format: 'uri' } } },
    { type: 'object', properties: { n: { type: 'integer', format: 'int64' }, s: { type: 'string' } } },
  ],
  [
    'writes null as nullable',
    {
      properties: {
        a: { type: ['string', 'null'] },
        b: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        c: { type: ['string', 'number'] },
      },
    },
    {
      type: 'object',
      properties: {
        a: { type: 'string', nullable: true },
        b: { type: 'integer', nullable: true },
        c: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
    },
  ],
  [
    'writes constants and choices',
    {
      properties: {
        a: { const: 'x' },
        b: { enum: [1, 2], type: 'integer' },
        c: { const: 3 },
        d: { oneOf: [{ type: 'string' }, { type: 'boolean' }] },
      },
    },
    {
      type: 'object',
      properties: {
        a: { type: 'string', enum: ['x'] },
        b: { type: 'integer' },
        c: { type: 'number' },
        d: { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
      },
    },
  ],
  [
    'resolves references',
    {
      properties: { a: { $ref: '#/$defs/r', description: 'A.' } },
      $defs: { r: { type: 'object', properties: { n: { type: 'number' } } } },
    },
    { type: 'object', properties: { a: { type: 'object', properties: { n: { type: 'number' } }, description: 'A.' } } },
  ],
  [
    'demands only what is described',
    { properties: { a: { type: 'array' } }, required: ['a', 'b'] },
    { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } }, required: ['a'] },
  ],
])('the OpenAPI subset %s', (_, schema, expected) => {
  expect(toolSchema({ type: 'object', ...schema }, 'openapi')).toEqual(expected);
});

test('a schema that refers to itself ends', () => {
  const schema = {
    type: 'object',
    properties: { next: { $ref: '#' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  };
  const looping = { ...schema, properties: { next: { $ref: '#/$defs/node' } } };
  expect(JSON.stringify(toolSchema(looping, 'openapi')).length).toBeLessThan(5_000);
});

test('json schema stays as it is, an object with properties at its root', () => {
  expect(toolSchema({ additionalProperties: false }, 'json')).toEqual({
    type: 'object',
    properties: {},
    additionalProperties: false,
  });
});
