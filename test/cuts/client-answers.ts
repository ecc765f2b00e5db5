import { toBinary } from '@bufbuild/protobuf';
import { blobKey } from '@tandem/protocol';
import { ExecServerMessageSchema } from '@tandem/protocol/agent';
import type { ExecServerMessage, KvServerMessage } from '@tandem/protocol/agent';
import { hash } from 'node:crypto';
import type { Attempt } from './attempt.ts';
import type { ClientSide } from './client-side.ts';

/** Answers a question for a blob as the client does, by putting the answer in line. Returns what is wrong with the question. */
export function answerBlob(attempt: Attempt, client: ClientSide, { id, message }: KvServerMessage): string[] {
  const problems: string[] = [];
  if (message.case === 'setBlobArgs') {
    const key = blobKey(message.value.blobId);
    const data = Uint8Array.from(message.value.blobData);
    if (hash('sha256', data) !== key) problems.push(`set_blob ${key.slice(0, 12)} is not the hash of its data`);
    client.blobs.set(key, data);
    attempt.enqueue(
      { case: 'kvClientMessage', value: { id, message: { case: 'setBlobResult', value: {} } } },
      { blob: key },
    );
  } else if (message.case === 'getBlobArgs') {
    const blobData = client.blobs.get(blobKey(message.value.blobId));
    attempt.enqueue({
      case: 'kvClientMessage',
      value: { id, message: { case: 'getBlobResult', value: blobData ? { blobData } : {} } },
    });
  }
  return problems;
}

/** Does what an exec asks for and puts every message of the answer in line. Returns what is wrong with the question. */
export function answerExec(attempt: Attempt, client: ClientSide, { id, message }: ExecServerMessage): string[] {
  const problems: string[] = [];
  const kind = message.case!;
  const args: any = message.value;
  const callId = String(args.toolCallId ?? '');
  const key = `${callId} ${kind} ${hash('sha256', toBinary(ExecServerMessageSchema.field[kind]!.message!, args))}`;
  const isPolled = String(args.path ?? '').includes('.terminals/');
  if (callId !== '' && !isPolled) {
    if (attempt.asked.has(key)) problems.push(`${kind} of ${callId} was asked twice on one stream`);
    if (client.settled.has(key))
      problems.push(`${kind} of ${callId} was asked again though its result was acknowledged or written`);
    attempt.asked.add(key);
  }
  const { run, answers } = client.hands.perform(key, kind, args);
  const meaning =
    callId === ''
      ? {}
      : {
          answer: {
            key,
            callId,
            run,
            parts: answers.length,
            acknowledged: new Set<number>(),
            written: new Set<number>(),
          },
        };
  for (const answer of answers) attempt.enqueue({ case: 'execClientMessage', value: { id, message: answer } }, meaning);
  attempt.enqueue({ case: 'execClientControlMessage', value: { message: { case: 'streamClose', value: { id } } } });
  return problems;
}
