import { expect, test } from 'vitest';
import { relyingPartyOf } from '../../../../../src/resources/identity/passkeys/passkey.ts';

test('passkeys belong to the host of the public URL', () => {
  expect(relyingPartyOf('https://live.example.org:8443/')).toEqual({
    id: 'live.example.org',
    origin: 'https://live.example.org:8443',
  });
  expect(relyingPartyOf('http://localhost:8080')).toEqual({
    id: 'localhost',
    origin: 'http://localhost:8080',
  });
});

test.each(['http://live.example.org', 'https://192.0.2.1', 'https://[2001:db8::1]', 'http://127.0.0.1:8080'])(
  '%s is no address for passkeys',
  url => {
    expect(relyingPartyOf(url)).toBeUndefined();
  },
);
