import type { DescFile, DescMessage } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import * as agent from './agent.ts';
import * as aiserver from './aiserver.ts';

function filesOf(namespace: Record<string, unknown>): DescFile[] {
  return Object.values(namespace).filter(isFile);
}

function isFile(value: unknown): value is DescFile {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'file';
}

/** Every file of the schema. */
export const schemaFiles: readonly DescFile[] = [...filesOf(agent), ...filesOf(aiserver)];

/** Every message of the schema by its full name, nested ones too: what a blob holds is found here (R39, R40). */
export const messageSchemas: ReadonlyMap<string, DescMessage> = new Map(
  schemaFiles
    .flatMap(file => [...nestedTypes(file)])
    .filter(type => type.kind === 'message')
    .map(message => [message.typeName, message]),
);
