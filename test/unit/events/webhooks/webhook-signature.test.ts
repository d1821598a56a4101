import { expect, test } from 'vitest';
import { signBody, signBodyWithTimestamp } from '../../../../src/events/webhooks/webhook-signature.ts';

const secret = 'sig_sec_6Jd2mWx8Tq4Lb1Rn7Gz5Fk';
const body =
  '{"type":"live-stream.broadcast.started","emittedAt":"2026-03-04T05:06:07+00:00","liveStreamId":"li5Ds8GhJk1Qw3ErTy6UiOpA"}';

test('a body is signed with the whole secret', () => {
  expect(signBody(secret, body)).toBe('e7c26d5c0411991c66074df5c504b039e4085480627df07aab3fde21d44782c2');
});

test('a timed signature covers the time, too', () => {
  expect(signBodyWithTimestamp(secret, body, 1_772_600_767)).toBe(
    `t=1772600767,v1=${signBody(secret, `1772600767.${body}`)}`,
  );
  expect(signBodyWithTimestamp(secret, body, 1)).not.toContain(signBody(secret, body));
});
