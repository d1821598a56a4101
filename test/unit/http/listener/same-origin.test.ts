import { describe, expect, it } from 'vitest';
import { type PeerRequest, secureReader } from '../../../../src/http/listener/client-address.ts';
import { sameOriginCheck } from '../../../../src/http/listener/same-origin.ts';

const isSecure = secureReader(['10.0.0.1']);
const check = sameOriginCheck({ publicUrl: () => 'https://video.example.org', isSecure });
const isOwn = (request: PeerRequest) => check(request, { needsOrigin: false });
const own = 'cam.example:8080';

describe('a request', () => {
  it.each<[headers: Record<string, string>, expected: boolean]>([
    [{ host: own }, true],
    [{ host: own, 'sec-fetch-site': 'same-origin' }, true],
    [{ host: own, 'sec-fetch-site': 'none' }, true],
    [{ host: own, 'sec-fetch-site': 'same-site' }, false],
    [{ host: own, 'sec-fetch-site': 'cross-site' }, false],
    [{ host: own, origin: `http://${own}` }, true],
    [{ host: own, origin: `https://${own}` }, true],
    [{ ':authority': own, origin: `https://${own}` }, true],
    [{ host: 'CAM.example:8080', origin: `http://${own}` }, true],
    [{ host: 'cam.example:443', origin: 'https://cam.example' }, true],
    [{ host: 'internal:1', origin: 'https://video.example.org' }, true],
    [{ host: 'internal:1', origin: 'http://video.example.org' }, false],
    [{ host: own, origin: 'http://cam.example:3000' }, false],
    [{ host: own, origin: 'http://cam.example' }, false],
    [{ host: own, origin: 'https://evil.example' }, false],
    [{ host: own, origin: `https://evil.example/@${own}` }, false],
    [{ host: own, origin: 'null' }, false],
    [{ host: own, origin: '' }, false],
    [{ host: own, origin: `http://${own}`, 'sec-fetch-site': 'cross-site' }, false],
    [{ origin: 'http://cam.example' }, false],
    [{ host: own, origin: `ftp://${own}` }, false],
  ])('with %j may use the cookie: %j', (headers, expected) => {
    expect(isOwn({ headers, socket: { remoteAddress: '192.0.2.1' } })).toBe(expected);
  });

  it('over TLS is not one of a page without TLS', () => {
    const headers = { host: own, origin: `http://${own}` };
    expect(isOwn({ headers, socket: { encrypted: true } })).toBe(false);
    const proxied = { ...headers, 'x-forwarded-proto': 'https' };
    expect(isOwn({ headers: proxied, socket: { remoteAddress: '10.0.0.1' } })).toBe(false);
    expect(isOwn({ headers: proxied, socket: { remoteAddress: '10.0.0.2' } })).toBe(true);
  });

  it('without an origin is not enough where one is needed', () => {
    const socket = { remoteAddress: '192.0.2.1' };
    expect(check({ headers: { host: own }, socket }, { needsOrigin: true })).toBe(false);
    const headers = { host: own, origin: `http://${own}` };
    expect(check({ headers, socket }, { needsOrigin: true })).toBe(true);
  });
});
