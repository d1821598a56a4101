import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { signBody, signBodyWithTimestamp } from '../../../src/events/webhooks/webhook-signature.ts';

const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');

test('the sample of the documentation accepts genuine requests, and refuses forged and old ones', async () => {
  const sample = /```js\n([\s\S]*?)```/.exec(page)![1]!;
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(sample)}`);
  const secret = 'sig_sec_6Jd2mWx8Tq4Lb1Rn7Gz5Fk';
  const body = '{"type":"live-stream.broadcast.started"}';
  const now = Math.floor(Date.now() / 1_000);
  const headersAt = (seconds: number) => ({
    'x-api-video-signature': signBody(secret, body),
    'millrace-signature': signBodyWithTimestamp(secret, body, seconds),
  });
  expect(isGenuine(headersAt(now), body, secret)).toBe(true);
  expect(isGenuine(headersAt(now), `${body} `, secret)).toBe(false);
  expect(isGenuine(headersAt(now), body, 'sig_sec_other')).toBe(false);
  expect(isGenuine(headersAt(now - 600), body, secret)).toBe(false);
  const { 'millrace-signature': timed } = headersAt(now - 600);
  expect(
    isGenuine({ ...headersAt(now), 'millrace-signature': timed.replace(/t=\d+/, `t=${now}`) }, body, secret),
  ).toBe(false);
  expect(isGenuine({}, body, secret)).toBe(false);
});
