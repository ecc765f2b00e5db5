/** The messages, enums and services of `aiserver.v1`, as generated from `proto/aiserver/v1`. */
export * from '../gen/aiserver/v1/bidi_pb.js';
export * from '../gen/aiserver/v1/code_pb.js';
export * from '../gen/aiserver/v1/diff_pb.js';
export * from '../gen/aiserver/v1/errors_pb.js';
