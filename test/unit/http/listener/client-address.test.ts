import { describe, expect, it } from 'vitest';
import { addressReader, isLocalRequest } from '../../../../src/http/listener/client-address.ts';

const request = (remoteAddress: string, forwarded?: string) => ({
  socket: { remoteAddress },
  headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
});

describe('a request', () => {
  it.each([
    ['127.0.0.1', { host: 'localhost:8080' }, true],
    ['::ffff:127.0.0.1', { host: '127.0.0.1:8080' }, true],
    ['::1', { host: '[::1]:8080' }, true],
    ['::1', { ':authority': '[::1]' }, true],
    ['127.0.0.1', {}, true],
    ['192.0.2.1', { host: 'localhost' }, false],
    ['127.0.0.1', { host: 'localhost', origin: 'http://localhost' }, false],
    ['127.0.0.1', { host: 'localhost', 'x-forwarded-for': '192.0.2.1' }, false],
    ['127.0.0.1', { host: 'rebound.example:8080' }, false],
    ['127.0.0.1', { ':authority': 'rebound.example' }, false],
    ['127.0.0.1', { host: 'localhost.example' }, false],
  ])('from %s with %j is of this machine: %j', (remoteAddress, headers, expected) => {
    expect(isLocalRequest({ socket: { remoteAddress }, headers })).toBe(expected);
  });
});

describe('the address of a client', () => {
  const proxies = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'];
  it.each([
    ['is that of the connection', [], '203.0.113.5', '198.51.100.1', '203.0.113.5'],
    ['has no IPv6 around an IPv4 address', [], '::ffff:203.0.113.5', undefined, '203.0.113.5'],
    ['is what a trusted proxy says', proxies, '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['is what a trusted proxy of IPv6 says', proxies, '2001:db8::5', '2001:4860::1', '2001:4860::1'],
    ['is not what a stranger says', proxies, '203.0.113.5', '198.51.100.1', '203.0.113.5'],
    [
      'is the last one before trusted proxies',
      proxies,
      '::ffff:10.1.2.3',
      '1.1.1.1, 198.51.100.1, 192.0.2.7',
      '198.51.100.1',
    ],
    ['is the proxy where it says nothing', proxies, '10.1.2.3', undefined, '10.1.2.3'],
    ['is the proxy where it says nonsense', proxies, '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
    ['is the first one where all are trusted', proxies, '10.1.2.3', '10.9.9.9', '10.9.9.9'],
  ])('%s', (_, trusted, remote, forwarded, expected) => {
    expect(addressReader(trusted)(request(remote, forwarded))).toBe(expected);
  });
});
