/** What both sides of the protocol share: the wire without any I/O. The messages are in `./agent` and `./aiserver`, all of them by name in `./schema`. */
export { decodeAppend, encodeAppend } from './append.ts';
export type { Append, AppendForm } from './append.ts';
export { BLOB_ID_BYTES, blobKey, collectBlobIds, collectBlobLinks, isBlobId } from './blob.ts';
export type { BlobLink } from './blob.ts';
export { blobReferences, plainBytesFields } from './blob-table.ts';
export type { BlobReference } from './blob-table.ts';
export { codeOfStatus, isCode, statusOfCode } from './code.ts';
export type { Code } from './code.ts';
export { decodeEndStream, decodeUnaryError, encodeEndStream, encodeUnaryError } from './end-stream.ts';
export type { EndStream } from './end-stream.ts';
export { EnvelopeReader, FLAG_COMPRESSED, FLAG_END_STREAM, encodeEnvelope } from './envelope.ts';
export type { Envelope } from './envelope.ts';
export { Fault, fault } from './fault.ts';
export type { FaultOptions } from './fault.ts';
export { faults } from './fault-table.ts';
export type { FaultName, FaultRow } from './fault-table.ts';
export { decodeHex, encodeHex } from './hex.ts';
export type { HexFlaw } from './hex.ts';
export {
  CallId,
  ConversationId,
  ExecNumber,
  KvNumber,
  MessageId,
  ModelCallId,
  QueryNumber,
  RequestId,
  RunId,
} from './ids.ts';
export { innerNetworks } from './inner-networks.ts';
export { toWireJson } from './json.ts';
export type { WireJsonOptions } from './json.ts';
export { appendBodyBytes, limits } from './limits.ts';
export { execAnswers, fitsExec, fitsKv, fitsQuery, kvAnswers, queryAnswers } from './pairing.ts';
export type { ExecAnswer, ExecQuestion, KvAnswer, KvQuestion, QueryAnswer, QueryQuestion } from './pairing.ts';
export { REDACTED, scrub } from './scrub.ts';
