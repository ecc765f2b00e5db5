import { within } from './clock.ts';
import type { Clock } from './clock.ts';
import { paths } from './connection.ts';
import type { Connection } from './connection.ts';
import { refusal } from './downlink.ts';
import { connectionFailure, failureOf, protocolFailure } from './failure.ts';
import { limits } from './limits.ts';
import { readBody } from './transport.ts';

/** One model that a server offers. Only `id` is sure to be there; every id and alias is accepted by a run. */
export interface ModelItem {
  id: string;
  displayName?: string;
  description?: string;
  aliases?: string[];
  parameters?: { id: string; displayName?: string; values: { value: string; displayName?: string }[] }[];
  variants?: { params: { id: string; value: string }[]; displayName?: string; isDefault?: boolean }[];
  /** Tokens that it takes in and gives out together, and those of one answer at most. */
  contextWindow?: number;
  maxOutput?: number;
  /** Whether it sees images. */
  vision?: boolean;
  /** A million tokens, in US dollars unless `currency` says another; a tier holds for calls whose prompt has more tokens than `above`. */
  price?: {
    input: number;
    output: number;
    cacheRead?: number;
    cacheWrite?: number;
    currency?: string;
    tiers?: { above: number }[];
  };
}

/** The models of `GET /v1/models`. Rejects with an AttemptFailure, at the latest after ten seconds. */
export async function fetchModels(connection: Connection, clock: Clock): Promise<ModelItem[]> {
  const controller = new AbortController();
  const late = () =>
    connectionFailure('Server silent', `${connection.baseUrl} did not answer within ${limits.unaryDeadline / 1000} s`);
  try {
    return await within(clock, limits.unaryDeadline, readModels(connection, controller.signal), late);
  } catch (error) {
    throw failureOf(error, `cannot reach ${connection.baseUrl}`);
  } finally {
    controller.abort();
  }
}

async function readModels(connection: Connection, signal: AbortSignal): Promise<ModelItem[]> {
  const url = connection.baseUrl + paths.models;
  const headers = { ...connection.headers, accept: 'application/json' };
  const answer = await connection.transport.exchange({ method: 'GET', url, headers, signal });
  if (answer.status !== 200) throw await refusal(answer, 'the model catalogue');
  const text = new TextDecoder().decode(await readBody(answer.body, limits.catalogueBytes));
  let items: unknown;
  try {
    items = (JSON.parse(text) as { items?: unknown } | null)?.items;
  } catch (error) {
    throw protocolFailure(`${url} answered with something that is not JSON`, error);
  }
  if (!Array.isArray(items)) throw protocolFailure(`${url} answered without a list of items`);
  return items.filter((item): item is ModelItem => typeof (item as { id?: unknown } | null)?.id === 'string');
}
