import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { deliveryTypes, type EventType, eventTypes } from '../../../../../src/events/event-catalogue.ts';
import {
  formatAnswer,
  formatDuration,
  isGood,
  isPending,
  prettyJson,
} from '../../../../../src/web/dashboard/pages/webhooks/delivery-labels.ts';
import {
  eventGroups,
  eventLabel,
  summarizeEvents,
} from '../../../../../src/web/dashboard/pages/webhooks/event-labels.ts';
import { verifySample } from '../../../../../src/web/dashboard/pages/webhooks/verify-sample.ts';

it('offers every event once', () => {
  expect(eventGroups.flatMap(({ types }) => types).sort()).toEqual(eventTypes.toSorted());
});

it('has words for every event, and the name of one that it does not know', () => {
  expect(deliveryTypes.filter(type => eventLabel(type).label === type)).toEqual([]);
  expect(eventLabel('video.new' as EventType).label).toBe('video.new');
});

it('sums up what a webhook is told of', () => {
  expect(summarizeEvents(['video.source.recorded'])).toBe('A recording is complete');
  expect(summarizeEvents(eventTypes.slice(0, 4))).toBe('A broadcast starts · A broadcast ends · 2 more');
});

it.each([
  [{ statusCode: 200 }, 'HTTP 200', true],
  [{ statusCode: 101 }, 'HTTP 101', true],
  [{ statusCode: 302 }, 'HTTP 302', false],
  [{ statusCode: 200, error: 'It broke off.' }, 'HTTP 200: It broke off.', false],
  [{ statusCode: 302, error: 'No.', errorCode: 'redirect' }, 'HTTP 302: Redirects aren’t followed', false],
  [{ statusCode: 500, error: 'Status 500.', errorCode: 'status' }, 'HTTP 500', false],
  [{ error: 'No.', errorCode: 'connection-refused' }, 'Connection refused', false],
  [{ error: 'The connection was refused.' }, 'The connection was refused.', false],
  [{}, 'No response', false],
] as const)('tells how a try went: %j', (attempt, words, good) => {
  expect([formatAnswer(attempt), isGood(attempt)]).toEqual([words, good]);
});

it('knows which deliveries are under way', () => {
  const statuses = ['waiting', 'retrying', 'succeeded', 'failed'] as const;
  expect(statuses.filter(status => isPending({ status }))).toEqual(['waiting', 'retrying']);
});

it('tells durations and payloads', () => {
  expect([formatDuration(0), formatDuration(999.4), formatDuration(1_449)]).toEqual([
    '0 ms',
    '999 ms',
    '1.4 s',
  ]);
  expect(prettyJson('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(prettyJson('no JSON')).toBe('no JSON');
});

it('shows a receiver how to tell genuine requests from others', async () => {
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(verifySample)}`);
  const [secret, body, now] = [
    'sig_sec_6Jd2mWx8Tq4Lb1Rn7Gz5Fk',
    '{"type":"x"}',
    Math.floor(Date.now() / 1_000),
  ];
  const sign = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  const headersAt = (t: number) => ({
    'x-api-video-signature': sign(body),
    'millrace-signature': `t=${t},v1=${sign(`${t}.${body}`)}`,
  });
  expect(isGenuine(headersAt(now), body, secret)).toBe(true);
  expect(isGenuine(headersAt(now), `${body} `, secret)).toBe(false);
  expect(isGenuine(headersAt(now - 400), body, secret)).toBe(false);
  expect(isGenuine({}, body, secret)).toBe(false);
});
