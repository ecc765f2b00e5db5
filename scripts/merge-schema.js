import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

/** Stays a file of its own: `src/agent.ts` gives its one message another name. */
const APART = 'agent/v1/error.proto';
const PACKAGE = 'agent.v1';
const NAME = 'agent/v1/schema.proto';
const HEAD = ' All of proto/agent/v1 but error.proto, as one module: a start would pay for each of its files.';

/** The numbers of FileDescriptorProto's fields, as paths of comments name them. */
const FIELD = { dependency: 3, messageType: 4, enumType: 5, service: 6, syntax: 12 };

/**
 * Makes one file of those of `agent.v1`. They are written by subject for people; at run time each costs a module and the setting up of all
 * that it imports, which is half of what the protocol needs to load.
 *
 * @param {Uint8Array} image a FileDescriptorSet with comments, each file after those it imports
 * @returns {Uint8Array} the same, with the merged file last
 */
export function mergeSchema(image) {
  const { file: files } = fromBinary(FileDescriptorSetSchema, image);
  const isPart = file => file.package === PACKAGE && file.name !== APART;
  const parts = files.filter(isPart);
  const names = new Set(parts.map(file => file.name));
  const merged = create(FileDescriptorProtoSchema, {
    name: NAME,
    package: PACKAGE,
    syntax: 'proto3',
    dependency: [...new Set(parts.flatMap(file => file.dependency))].filter(name => !names.has(name)).sort(),
    sourceCodeInfo: { location: [{ path: [FIELD.syntax], span: [0, 0, 0], leadingDetachedComments: [HEAD] }] },
  });
  for (const part of parts) {
    merged.sourceCodeInfo.location.push(...movedComments(part, merged));
    for (const kind of ['messageType', 'enumType', 'service']) merged[kind].push(...part[kind]);
  }
  return toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [...files.filter(file => !isPart(file)), merged] }),
  );
}

/** The comments of a part, at the places that its types get behind those that the merged file has already. */
function movedComments(part, merged) {
  const before = new Map(['messageType', 'enumType', 'service'].map(kind => [FIELD[kind], merged[kind].length]));
  return (part.sourceCodeInfo?.location ?? [])
    .filter(({ path }) => before.has(path[0]))
    .map(location => ({
      ...location,
      path: [location.path[0], location.path[1] + before.get(location.path[0]), ...location.path.slice(2)],
    }));
}
