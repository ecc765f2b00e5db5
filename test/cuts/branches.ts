import { isBlobId, blobKey } from '@tandem/protocol';
import { parseModelMessage } from '@tandem/protocol/message';
import type { ModelMessage } from '@tandem/protocol/message';
import type { ModelRequest } from '../../packages/server/src/model/port.ts';
import type { ClientSide } from './client-side.ts';
import { rootKey } from './final-history.ts';
import { Memo } from './memo.ts';

/** Messages as text, by the blob that holds them. */
const asRead = new Memo<string>(1_000);
/** The same by message: a run asks with the same objects again. What is frozen here would show a message changed in place. */
const asAsked = new WeakMap<object, string>();

function textOf(message: ModelMessage): string {
  let text = asAsked.get(message);
  if (text === undefined) asAsked.set(message, (text = JSON.stringify(message)));
  return text;
}

/**
 * The prefix rule over the model calls of a branch (R47): what a call is asked begins with what the call before it in the same
 * run was asked, byte for byte, and the first of a run with the history that the client brought.
 */
export class Branches {
  readonly #violations: string[];
  /** Messages of the last call, by the tools of its run, which are one object a run. */
  readonly #lastCall = new WeakMap<object, readonly string[]>();
  #brought: readonly string[] = [];

  constructor(violations: string[]) {
    this.#violations = violations;
  }

  /** An attempt begins with the state that the client has now. */
  begin({ state, blobs }: ClientSide): void {
    this.#brought = state.rootPromptMessagesJson.map(root => {
      const data = isBlobId(root) ? blobs.get(blobKey(root)) : root;
      if (!data) return 'missing';
      return asRead.get(rootKey(root), () =>
        JSON.stringify(parseModelMessage(JSON.parse(Buffer.from(data).toString('utf8')))),
      );
    });
  }

  called({ tools, messages }: ModelRequest): void {
    const asked = messages.map(textOf);
    const before = this.#lastCall.get(tools) ?? this.#brought;
    const at = before.findIndex((message, index) => asked[index] !== message);
    if (at >= 0) {
      this.#violations.push(
        `message ${at} of a model call is not the one that it was:\n    was: ${before[at]?.slice(0, 300)}\n    is:  ${asked[at]?.slice(0, 300)}`,
      );
    }
    this.#lastCall.set(tools, asked);
  }
}
