import { expect, test } from 'vitest';
import { sessionCookie, sessionSecretOf } from '../../../../src/resources/sessions/session-cookie.ts';

const secret = 'S3cret0'.padEnd(43, 'x');

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
  expect(sessionSecretOf(header, false)).toBe(expected);
});

test('over TLS only the name counts that no other host can set', () => {
  const planted = `millrace_session=${secret}`;
  expect(sessionSecretOf(planted, true)).toBeUndefined();
  expect(sessionSecretOf(`${planted}; __Host-millrace_session=${secret.toUpperCase()}`, true)).toBe(
    secret.toUpperCase(),
  );
  expect(sessionSecretOf(`__Host-millrace_session=${secret}`, false)).toBeUndefined();
});

test('is out of reach of scripts and of other sites, and goes over TLS alone where there is TLS', () => {
  expect(sessionCookie(secret, { lastsMs: 60_500, isSecure: true })).toBe(
    `__Host-millrace_session=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure`,
  );
  expect(sessionCookie('', { lastsMs: 0, isSecure: false })).toBe(
    'millrace_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
  );
});
