import { expect, test } from 'vitest';
import { phoneUrl } from '../../../../../src/web/dashboard/pages/overview/go-live/phone-url.ts';

test('is on the public URL of the server, with its path', () => {
  expect(phoneUrl('/media/dashboard/live/li1/studio', 'https://example.com/media/live/li1')).toBe(
    'https://example.com/media/dashboard/live/li1/studio',
  );
});

test.each(['http://example.com/', 'https://localhost:8443/', 'https://127.0.0.1/', 'https://[::1]/', 'none'])(
  'is none where phones cannot use it: %s',
  publicUrl => {
    expect(phoneUrl('/dashboard', publicUrl)).toBeUndefined();
  },
);
