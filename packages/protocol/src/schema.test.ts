import { readFileSync } from 'node:fs';
import { ScalarType } from '@bufbuild/protobuf';
import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { describe, expect, it } from 'vitest';
import * as agent from './agent.ts';
import { messageSchemas, schemaFiles } from './schema.ts';

/** The rows of a table, without its head, as they stand there. */
function tableRows(name: string): string[] {
  const text = readFileSync(new URL(`../tables/${name}.tsv`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .slice(1)
    .filter(line => line !== '');
}

function enumTypes(): DescEnum[] {
  return schemaFiles.flatMap(file => [...nestedTypes(file)]).filter(type => type.kind === 'enum');
}

function elementOf(field: DescField): string {
  return field.message?.typeName ?? field.enum?.typeName ?? scalarName(field.scalar as ScalarType);
}

function scalarName(scalar: ScalarType): string {
  return (ScalarType[scalar] as string).toLowerCase();
}

function typeOf(field: DescField): string {
  return field.fieldKind === 'map' ? `map<${scalarName(field.mapKey)},${elementOf(field)}>` : elementOf(field);
}

function labelOf(field: DescField): string {
  if (field.oneof !== undefined) return `oneof ${field.oneof.name}`;
  if (field.fieldKind === 'list') return 'repeated';
  return field.proto.proto3Optional ? 'optional' : '';
}

function messageRows(message: DescMessage): string[] {
  if (message.fields.length === 0) return [[message.typeName, '', '', '', ''].join('\t')];
  return message.fields.map(field =>
    [message.typeName, field.number, field.name, typeOf(field), labelOf(field)].join('\t'),
  );
}

describe('the generated schema', () => {
  it('[done-descriptors-equal-tables] has the fields of the table: number, name, type, label, oneof and presence, none missing and none more', () => {
    const rows = [...messageSchemas.values()].flatMap(messageRows);
    expect(rows.sort()).toEqual(tableRows('messages').sort());
  });

  it('has 969 messages and 54 enums', () => {
    expect([messageSchemas.size, enumTypes().length]).toEqual([969, 54]);
  });

  it('has the values of the table in every enum', () => {
    const rows = enumTypes().flatMap(type =>
      type.values.map(value => [type.typeName, value.number, value.name].join('\t')),
    );
    expect(rows.sort()).toEqual(tableRows('enums').sort());
  });

  it('has the methods of the table in both services', () => {
    const rows = schemaFiles
      .flatMap(file => file.services)
      .flatMap(service =>
        service.methods.map(method =>
          [service.typeName, method.name, method.methodKind, method.input.typeName, method.output.typeName].join('\t'),
        ),
      );
    expect(rows.sort()).toEqual(tableRows('services').sort());
  });

  it('imports downward only: aiserver never knows agent', () => {
    const upward = schemaFiles
      .filter(file => file.proto.package === 'aiserver.v1')
      .flatMap(file => file.dependencies)
      .filter(file => file.proto.package === 'agent.v1');
    expect(upward).toEqual([]);
  });

  it('leaves the global Error alone', () => {
    expect(Object.keys(agent)).not.toContain('Error');
    expect(agent.AgentErrorSchema.typeName).toBe('agent.v1.Error');
  });
});
