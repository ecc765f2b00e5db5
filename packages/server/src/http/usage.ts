import { fault } from '@tandem/protocol';
import type { UsageQuery } from '../store/port.ts';
import { bearerOf } from './bearer.ts';
import type { Request, Response } from './listen.ts';
import { replyJson } from './reply.ts';
import type { RouteContext } from './routes.ts';

const GROUPS: readonly UsageQuery['by'][] = ['day', 'model', 'conversation', 'turn'];
const PARAMETERS = ['by', 'since', 'until', 'conversation'];

/**
 * `GET /v1/usage?by=day&since=2026-12-01&until=2027-01-01&conversation=ID`: what the caller's own model calls used and cost, as
 * `{"by","rows":[{"name","calls","turns","inputTokens"…,"cost":{"USD":0.12},"unpricedCalls","lastAt"}]}`, the newest first. `since`
 * is in, `until` is not; both are a day of UTC or a moment as ISO 8601.
 */
export async function usage(request: Request, response: Response, context: RouteContext): Promise<void> {
  const { owner } = context.authenticator.authenticate(bearerOf(request));
  const query = readQuery(new URL(request.url ?? '/', 'http://localhost').searchParams);
  replyJson(response, 200, { by: query.by, rows: await context.store.usage.report({ owner }, query) });
}

function readQuery(parameters: URLSearchParams): UsageQuery {
  for (const name of parameters.keys()) {
    if (!PARAMETERS.includes(name)) {
      throw fault(
        'bad_request',
        `${JSON.stringify(name.slice(0, 40))} is no parameter of the usage; it has ${PARAMETERS.join(', ')}.`,
      );
    }
  }
  const by = GROUPS.find(group => group === (parameters.get('by') ?? 'day'));
  if (!by)
    throw fault(
      'bad_request',
      `by takes ${GROUPS.join(', ')}, not ${JSON.stringify(parameters.get('by')?.slice(0, 40))}.`,
    );
  return {
    by,
    since: readMoment('since', parameters.get('since')),
    until: readMoment('until', parameters.get('until')),
    conversationId: parameters.get('conversation') ?? undefined,
  };
}

function readMoment(name: string, text: string | null): number | undefined {
  if (text === null) return undefined;
  const moment = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(moment)) return moment;
  throw fault(
    'bad_request',
    `${name} takes a day such as 2026-12-01, or a moment such as 2026-12-01T08:00:00Z, not ${JSON.stringify(text.slice(0, 40))}.`,
  );
}
