import { create, toBinary } from '@bufbuild/protobuf';
import { encodeAppend } from '@tandem/protocol';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callCompanion, forms } from '../support/companion.ts';
import { startHouse, textsOf } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { startTestServer } from '../support/server.ts';
import { APPEND, fetchWhole, transports, unaryHeaders } from '../support/wire.ts';

const THEN = { text: 'done' };
const isFine = (peer: Peer) => expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);

describe.each(transports)('calls beside a run over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());
  const post = (path: string, type: string, body: Uint8Array = Buffer.alloc(0)) =>
    fetchWhole({ url: house.server.url, path, transport, headers: unaryHeaders({ 'content-type': type }), body });

  it('F19: answers the calls with which clients ask whether it is there, at once', async () => {
    for (const path of ['/aiserver.v1.NetworkService/IsConnected', '/aiserver.v1.HealthService/Ping']) {
      const proto = await post(path, 'application/proto');
      expect([path, proto.status, proto.headers['content-type'], proto.body.length]).toEqual([
        path,
        200,
        'application/proto',
        0,
      ]);
      const json = await post(path, 'application/json', Buffer.from('{}'));
      expect([path, json.status, JSON.parse(json.body.toString())]).toEqual([path, 200, {}]);
    }
    for (const path of ['/healthz', '/readyz'])
      expect((await fetchWhole({ url: house.server.url, path, method: 'GET', transport })).status).toBe(200);
  });

  it('F20: takes uploaded blobs and the news of a copy in every form, and neither is to be tried again', async () => {
    house.say(THEN);
    const { conversationId, blobs } = await house.peer().turn('hi');
    const sent = [...blobs].map(([key, value]) => ({ id: Buffer.from(key, 'hex'), value }));
    for (const form of forms) {
      const caller = { url: house.server.url, transport, form };
      for (let time = 0; time < 2; time++) {
        await callCompanion(caller, 'uploadConversationBlobs', {
          conversationId,
          blobs: sent,
          chunkIndex: 0,
          totalChunks: 1,
        });
        await callCompanion(caller, 'notifyConversationClone', {
          conversationId: `${form} copy`,
          sourceConversationId: conversationId,
        });
      }
    }
  });

  it('F22: reads appends that are compressed, and no answer speaks of a compression that it does not have', async () => {
    house.say(THEN);
    const peer = house.peer();
    const bytes = toBinary(
      AgentClientMessageSchema,
      create(AgentClientMessageSchema, { message: peer.runRequest('a compressed question') as never }),
    );
    await peer.open();
    const answer = await fetchWhole({
      url: house.server.url,
      path: APPEND,
      transport,
      headers: unaryHeaders({ 'content-encoding': 'gzip', 'accept-encoding': 'gzip' }),
      body: gzipSync(encodeAppend({ requestId: peer.requestId, seqno: peer.seqno++, bytes })),
    });
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, undefined]);
    isFine(await peer.finish());
    expect(textsOf(house.requests[0]!.body, 'user').at(-1)).toBe('a compressed question');
    const models = await fetchWhole({
      url: house.server.url,
      path: '/v1/models',
      method: 'GET',
      transport,
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(models.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(models.body.toString()).items).toHaveLength(2);
  });
});

describe('a provider behind a gateway that compresses', () => {
  it('F22: has its list of models and its answers read', async () => {
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const gateway = createServer((request, response) => {
      const body =
        request.method === 'GET'
          ? JSON.stringify({ data: [{ id: 'packed-model' }] })
          : chunk({ content: 'unpacked' }, null) + chunk({}, 'stop');
      request.resume();
      response.writeHead(200, {
        'content-type': request.method === 'GET' ? 'application/json' : 'text/event-stream',
        'content-encoding': 'gzip',
      });
      response.end(gzipSync(body));
    });
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    const baseUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/v1`;
    const server = await startTestServer({ config: { providers: { packed: { type: 'openai-compatible', baseUrl } } } });
    const house = await startHouse();
    const peer = await house.peer({ url: server.url, model: 'packed-model' }).turn('hi');
    expect([peer.fault, peer.text]).toEqual([undefined, 'unpacked']);
    await server.close();
    await house.close();
    gateway.closeAllConnections();
    gateway.close();
  });
});
