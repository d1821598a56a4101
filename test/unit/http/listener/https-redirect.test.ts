import { describe, expect, test } from 'vitest';
import { secureReader } from '../../../../src/http/listener/client-address.ts';
import { HttpsRedirect } from '../../../../src/http/listener/https-redirect.ts';

const redirect = (changes: Partial<ConstructorParameters<typeof HttpsRedirect>[0]> = {}) =>
  new HttpsRedirect({
    domains: ['video.example.org'],
    hasCertificate: () => true,
    isSecure: secureReader(['127.0.0.1']),
    port: () => 443,
    ...changes,
  });

const request = (host: string | undefined, socket = {}, headers = {}) => ({
  headers: { host, ...headers },
  socket,
});

describe('a request over plain HTTP', () => {
  test.each([
    ['video.example.org', 'https://video.example.org'],
    ['VIDEO.example.org:8080', 'https://video.example.org'],
    ['video.example.org.', 'https://video.example.org'],
    ['video.example.org.evil.example', undefined],
    ['evil.example', undefined],
    ['127.0.0.1:8080', undefined],
    ['[::1]:8080', undefined],
    [undefined, undefined],
    ['video.example.org:80:80', undefined],
  ])('for the host %s goes to %s', (host, target) => {
    expect(redirect().targetOf(request(host), '/videos')).toBe(target);
  });

  test.each([
    ['/.well-known/acme-challenge/x', undefined],
    ['/health/live', undefined],
    ['/healthy', 'https://video.example.org'],
    ['/', 'https://video.example.org'],
  ])('of the path %s goes to %s', (path, target) => {
    expect(redirect().targetOf(request('video.example.org'), path)).toBe(target);
  });

  test('goes to the port of HTTPS', () => {
    expect(redirect({ port: () => 8443 }).targetOf(request('video.example.org'), '/')).toBe(
      'https://video.example.org:8443',
    );
  });

  test('is answered without a certificate, over TLS, and from a proxy that has TLS', () => {
    const host = 'video.example.org';
    expect(redirect({ hasCertificate: () => false }).targetOf(request(host), '/')).toBeUndefined();
    const added = redirect({
      domains: [host, 'new.example.org'],
      hasCertificate: domain => domain === host,
    });
    expect(added.targetOf(request('New.example.org:80'), '/')).toBeUndefined();
    expect(added.targetOf(request(host), '/')).toBeDefined();
    expect(redirect().targetOf(request(host, { encrypted: true }), '/')).toBeUndefined();
    const forwarded = { 'x-forwarded-proto': 'https' };
    expect(
      redirect().targetOf(request(host, { remoteAddress: '127.0.0.1' }, forwarded), '/'),
    ).toBeUndefined();
    expect(redirect().targetOf(request(host, { remoteAddress: '192.0.2.1' }, forwarded), '/')).toBeDefined();
  });
});
