import { Fault, fault } from '@tandem/protocol';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Clock } from '../clock.ts';
import type { Catalogue } from '../model/port.ts';
import { modelItems } from '../model/model-items.ts';
import type { Log } from '../observe/log.ts';
import { endFrame } from '../stream/frame.ts';
import type { Store } from '../store/port.ts';
import type { Registry } from '../stream/registry.ts';
import { bearerOf } from './bearer.ts';
import { bidiAppend } from './bidi-append.ts';
import { companionRoutes } from './companions/routes.ts';
import { checkDoor, crossOriginHeaders } from './door.ts';
import type { DoorOptions } from './door.ts';
import { housekeepingPaths } from './housekeeping.ts';
import type { Handler, Request, Response } from './listen.ts';
import { letGo, reply, replyFault, replyJson } from './reply.ts';
import { runBidi } from './run-bidi.ts';
import { runPoll } from './run-poll.ts';
import { runSse } from './run-sse.ts';
import { CONNECT_PROTO } from './stream-call.ts';
import { isGrpcWeb, replyGrpcWebFault } from './unary.ts';
import type { Meter } from '../usage/meter.ts';
import { usage } from './usage.ts';

/** What the routes need of the server. */
export interface RouteContext {
  readonly registry: Registry;
  readonly authenticator: Authenticator;
  readonly catalogue: Catalogue;
  readonly store: Store;
  readonly door: DoorOptions;
  readonly log: Log;
  readonly clock: Clock;
  readonly meter: Meter;
  /** The longest message, decoded (R8). */
  readonly messageBytes: number;
  /** False while the server drains. */
  isReady(): boolean;
}

type Route = (request: Request, response: Response, context: RouteContext) => void | Promise<void>;

const posts: Readonly<Record<string, Route>> = {
  '/aiserver.v1.BidiService/BidiAppend': bidiAppend,
  '/agent.v1.AgentService/RunSSE': runSse,
  '/agent.v1.AgentService/Run': runBidi,
  '/agent.v1.AgentService/RunPoll': runPoll,
  ...companionRoutes,
  '/auth/exchange_user_api_key'(request, response, { authenticator }) {
    const answer = authenticator.exchange(bearerOf(request));
    if (answer instanceof Fault) replyFault(response, answer);
    else replyJson(response, 200, answer);
    request.resume();
  },
};

const gets: Readonly<Record<string, Route>> = {
  // whoever opens the address in a browser should see what it is
  '/'(_, response) {
    replyJson(response, 200, {
      name: 'tandem',
      protocol: 'Agent Bidi / RunSSE',
      models: '/v1/models',
      health: '/healthz',
    });
  },
  async '/v1/models'(request, response, { authenticator, catalogue }) {
    authenticator.authenticate(bearerOf(request));
    await catalogue.refresh?.();
    replyJson(response, 200, modelItems(catalogue));
  },
  '/v1/usage': usage,
  '/healthz'(_, response) {
    replyJson(response, 200, { status: 'ok' });
  },
  '/readyz'(_, response, { isReady }) {
    const ready = isReady();
    replyJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'draining' });
  },
};

/** The table of everything that a client meets. Whatever goes wrong below becomes one answer here; no request ends the process. */
export function routes(context: RouteContext): Handler {
  return (request, response) => {
    response.on('error', () => {}); // the other side is gone; whoever writes learns it by 'close'
    request.on('error', () => {});
    route(request, response, context).catch((error: unknown) => {
      const told = Fault.from(error);
      if (told.name_ === 'internal')
        context.log.error(
          { path: pathOf(request), error: String(error instanceof Error ? error.stack : error) },
          'a request failed by a fault of this server',
        );
      if (isGrpcWeb(request) && told.name_ !== 'wrong_content_type') replyGrpcWebFault(response, told);
      else replyFault(response, told, told.name_ === 'wrong_content_type' ? 415 : undefined);
      letGo(request, response);
    });
  };
}

const pathOf = (request: Request) => (request.url ?? '').split('?')[0]!;

async function route(request: Request, response: Response, context: RouteContext): Promise<void> {
  const refused = checkDoor(request, context.door);
  if (refused) {
    replyToCall(request, response, refused);
    request.resume();
    return;
  }
  const path = pathOf(request);
  for (const [name, value] of Object.entries(crossOriginHeaders(request))) response.setHeader(name, value);
  if (request.method === 'OPTIONS') return reply(response, 204, undefined);
  const get = Object.hasOwn(gets, path) ? gets[path] : undefined;
  const post = Object.hasOwn(posts, path) ? posts[path] : undefined;
  if (get && request.method === 'GET') return get(request, response, context);
  if (post && request.method === 'POST') return post(request, response, context);
  request.resume();
  if (get || post) {
    response.setHeader('allow', get ? 'GET' : 'POST');
    return replyFault(
      response,
      fault('bad_request', `${path} takes ${get ? 'GET' : 'POST'}, not ${request.method}.`),
      405,
    );
  }
  if (request.method === 'POST' && housekeepingPaths.has(path)) {
    const json = /json/.test(String(request.headers['content-type'] ?? ''));
    return json ? replyJson(response, 200, {}) : reply(response, 200, 'application/proto');
  }
  const unknown = fault('unimplemented', `${path} is not something this server knows.`);
  if (request.method === 'POST') replyToCall(request, response, unknown);
  else replyFault(response, unknown, 404);
}

/** A failure in the form that the call can read: an end frame under HTTP 200 for a streaming call (R6), else a unary error. */
function replyToCall(request: Request, response: Response, told: Fault): void {
  if (request.method !== 'POST' || !String(request.headers['content-type'] ?? '').startsWith(CONNECT_PROTO)) {
    replyFault(response, told);
    return;
  }
  response.writeHead(200, { 'content-type': CONNECT_PROTO });
  response.end(endFrame(told));
}
