import { expect, test } from 'vitest';
import { sessionCookie } from '../../../../../src/resources/identity/sessions/session-cookie.ts';

const secret = 'S3cret0'.padEnd(43, 'x');
const plain = { isSecure: false, basePath: '' };
const overTls = { isSecure: true, basePath: '' };

test.each([
  [`millrace_session=${secret}`, secret],
  [`a=b; millrace_session=${secret}; c=d`, secret],
  [`a=b;millrace_session=${secret}`, secret],
  [undefined, undefined],
  ['', undefined],
  [`other_millrace_session=${secret}`, undefined],
  [`millrace_session=${secret}x`, undefined],
  [`millrace_session=${secret.slice(1)}`, undefined],
  [`millrace_session="${secret}"`, undefined],
  [`a="; millrace_session=short"; millrace_session=${secret}`, secret],
])('in %j is the secret %j', (header, expected) => {
  expect(sessionCookie.read(header, plain)).toBe(expected);
});

test('over TLS only the name counts that no other host can set', () => {
  const planted = `millrace_session=${secret}`;
  expect(sessionCookie.read(planted, overTls)).toBeUndefined();
  expect(sessionCookie.read(`${planted}; __Host-millrace_session=${secret.toUpperCase()}`, overTls)).toBe(
    secret.toUpperCase(),
  );
  expect(sessionCookie.read(`__Host-millrace_session=${secret}`, plain)).toBeUndefined();
});

test('is out of reach of scripts and of other sites, and goes over TLS alone where there is TLS', () => {
  expect(sessionCookie.write(secret, 60_500, overTls)).toBe(
    `__Host-millrace_session=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure`,
  );
  expect(sessionCookie.write('', 0, plain)).toBe(
    'millrace_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
  );
});

test('goes to the base path alone, where browsers refuse the name for a whole host', () => {
  const below = { isSecure: true, basePath: '/media' };
  expect(sessionCookie.write(secret, 60_000, below)).toBe(
    `__Secure-millrace_session=${secret}; Path=/media; HttpOnly; SameSite=Strict; Max-Age=60; Secure`,
  );
  expect(sessionCookie.read(`__Secure-millrace_session=${secret}`, below)).toBe(secret);
  expect(sessionCookie.read(`millrace_session=${secret}`, below)).toBeUndefined();
  expect(sessionCookie.write(secret, 60_000, { ...below, isSecure: false })).toBe(
    `millrace_session=${secret}; Path=/media; HttpOnly; SameSite=Strict; Max-Age=60`,
  );
});
