import { badInput } from './requirements/bad-input.ts';
import { blobs } from './requirements/blobs.ts';
import { client } from './requirements/client.ts';
import { command } from './requirements/command.ts';
import { conversation } from './requirements/conversation.ts';
import { done } from './requirements/done.ts';
import { ends } from './requirements/ends.ts';
import { exec } from './requirements/exec.ts';
import { framing } from './requirements/framing.ts';
import { liveness } from './requirements/liveness.ts';
import { operating } from './requirements/operating.ts';
import { models } from './requirements/models.ts';
import { order } from './requirements/order.ts';
import { providers } from './requirements/providers.ts';
import { tools } from './requirements/tools.ts';
import { turn } from './requirements/turn.ts';
import { ways } from './requirements/ways.ts';

/**
 * The ledger of promises: everything this repository says an observer can rely on, one entry a promise.
 *
 * A test cites what it proves at the start of its name, several ids separated by commas:
 * `it('[R16-heartbeat-5s] sends a heartbeat while the model is silent', …)`.
 * test/citations.test.ts fails on a promise that no test cites and on a citation that is no promise.
 */
export const requirements = [
  ...framing,
  ...ways,
  ...order,
  ...liveness,
  ...turn,
  ...exec,
  ...blobs,
  ...conversation,
  ...client,
  ...command,
  ...ends,
  ...tools,
  ...models,
  ...operating,
  ...providers,
  ...badInput,
  ...done,
] as const;

/** The id of a promise in the ledger. */
export type RequirementId = (typeof requirements)[number]['id'];

const sentences: ReadonlyMap<string, string> = new Map(requirements.map(({ id, says }) => [id, says]));

/**
 * The sentence of a promise, for tests that build their names or messages.
 * Throws on an id that is not in the ledger, which the types catch first.
 */
export function requirement(id: RequirementId): string {
  const says = sentences.get(id);
  if (says === undefined) throw new Error(`no requirement has the id ${id}; the ledger is test/requirements.ts`);
  return says;
}
