import { describe, expect, it } from 'vitest';
import { checkDoor, crossOriginHeaders } from './door.ts';
import type { DoorOptions } from './door.ts';
import type { Request } from './listen.ts';

const local: DoorOptions = { host: '127.0.0.1', allowedOrigins: [], allowedHosts: [], hasKeys: false };
const open: DoorOptions = { ...local, host: '0.0.0.0', hasKeys: true };

/** A request as far as the door looks at it. */
function from(address: string, headers: Record<string, string>): Request {
  return { socket: { remoteAddress: address }, headers } as unknown as Request;
}
const refusal = (request: Request, options: DoorOptions) => checkDoor(request, options)?.detail;

describe('the door', () => {
  it('[product-loopback-rule] lets only this machine in while there are no keys', () => {
    const headers = { host: 'localhost:7788' };
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect(refusal(from(address, headers), local)).toBeUndefined();
    }
    for (const address of ['10.0.0.2', '::ffff:10.0.0.2', 'fe80::1', '']) {
      expect(refusal(from(address, headers), local)).toContain('serves only the machine it runs on');
      expect(refusal(from(address, headers), open)).toBeUndefined();
    }
  });

  it('knows its own names, with and without a port, in any case of letters', () => {
    for (const host of ['127.0.0.1:7788', 'localhost', 'LocalHost:80', '[::1]:7788']) {
      expect(refusal(from('127.0.0.1', { host }), local)).toBeUndefined();
    }
    expect(refusal(from('127.0.0.1', { ':authority': 'localhost:7788' }), local)).toBeUndefined();
  });

  it('refuses the name of someone else, so that a page cannot rebind its own name to this machine', () => {
    for (const host of [
      'evil.example',
      'localhost.evil.example:7788',
      '127.0.0.1.evil.example',
      '',
      'localhost@evil.example',
    ]) {
      expect(refusal(from('127.0.0.1', { host }), local)).toContain('listen.allowedHosts');
    }
    const named = { ...local, allowedHosts: ['agent.test', 'agent.test:81'] };
    expect(refusal(from('127.0.0.1', { host: 'AGENT.test:7788' }), named)).toBeUndefined();
    expect(refusal(from('127.0.0.1', { host: 'other.test' }), named)).toContain('other.test');
  });

  it('lets a server that others may reach be called by any name, since keys are asked for', () => {
    expect(refusal(from('10.0.0.2', { host: 'agent.example' }), open)).toBeUndefined();
  });

  it('lets pages in whose origin is listed exactly, and no other', () => {
    const listed = { ...local, allowedOrigins: ['https://app.example'] };
    const page = (origin: string) => from('127.0.0.1', { host: 'localhost', origin });
    expect(refusal(page('https://app.example'), listed)).toBeUndefined();
    for (const origin of ['https://app.example.evil', 'http://app.example', 'https://APP.example', 'null', '']) {
      expect(refusal(page(origin), listed)).toContain('listen.allowedOrigins');
    }
  });

  it('quotes no more than the beginning of what it refuses', () => {
    const long = refusal(from('127.0.0.1', { host: 'x'.repeat(10_000) }), local);
    expect(long!.length).toBeLessThan(400);
  });

  it('names the origin that may read an answer, and nothing without one', () => {
    expect(crossOriginHeaders(from('127.0.0.1', {}))).toEqual({});
    expect(crossOriginHeaders(from('127.0.0.1', { origin: 'https://app.example' }))).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      vary: 'origin',
    });
  });
});
