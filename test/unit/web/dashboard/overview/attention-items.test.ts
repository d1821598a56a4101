import { expect, test } from 'vitest';
import type {
  Hook,
  LiveStream,
  Usage,
  Video,
  Webhook,
} from '../../../../../src/web/dashboard/api/api-types.ts';
import {
  type AttentionSources,
  attentionItems,
} from '../../../../../src/web/dashboard/pages/overview/attention/attention-items.ts';

const nowMs = Date.parse('2026-03-04T12:00:00Z');
const inHours = (hours: number) => new Date(nowMs + hours * 3_600_000).toISOString();
const usage = (totalBytes: number, maxBytes?: number) => ({ storage: { totalBytes, maxBytes } }) as Usage;
const stream = (more: Partial<LiveStream> = {}) =>
  ({ liveStreamId: 'li1', name: 'Harbour', restreams: [], ...more }) as LiveStream;
const found = (more: Partial<AttentionSources>) =>
  attentionItems({ usage: usage(1), streams: [], ...more }, nowMs).map(
    ({ tone, title, action }) => `${tone}: ${title} [${action}]`,
  );

const machine = {
  cpu: { cores: 2, serverPercent: 1, machinePercent: 5 },
  memory: { serverBytes: 1e8, machineTotalBytes: 8e9, machineFreeBytes: 4e9 },
  disk: { totalBytes: 1e11, freeBytes: 9e8, minFreeBytes: 1e9 },
  queue: { waiting: 0, running: 0, failedToday: 0, isPaused: false },
  live: { broadcasts: 0, viewers: 0, recordingLagSeconds: 0 },
  programs: [],
};

test('nothing needs attention where all is well', () => {
  const webhook = { webhookId: 'wh1', url: 'https://example.com/hook' } as Webhook;
  expect(
    found({
      usage: usage(80, 100),
      streams: [stream({ source: { url: 'rtsp://camera', enabled: true, state: 'live' } })],
      restreams: [
        { stream: stream(), restreams: [{ name: 'YouTube', serverUrl: 'rtmp://a', state: 'live' }] },
      ],
      webhooks: [{ webhook, newest: undefined }],
      trash: [{ deletesAt: inHours(100) }],
      retention: { keepVideosDays: 30, next: [{ videoId: 'vi1', title: 'Film', expiresAt: inHours(100) }] },
      // Expected while live.
      server: { ...machine, warnings: [{ code: 'encoding-paused', text: 'Video encoding is paused.' }] },
      unverifiedUsers: 0,
      checks: { checkedAt: inHours(-1), failed: [], warnings: [] },
    }),
  ).toEqual([]);
});

test('the worst comes first, and each has something to do', () => {
  const webhook = { webhookId: 'wh1', url: 'https://example.com/hook?token=secret' } as Webhook;
  expect(
    found({
      usage: usage(95, 100),
      failedVideos: { total: 1, newest: { videoId: 'vi2', title: 'Film' } as Video, failure: 'No video.' },
      streams: [stream({ source: { url: 'rtsp://camera', enabled: true, state: 'retrying' } })],
      restreams: [
        {
          stream: stream(),
          restreams: [
            { name: 'YouTube', serverUrl: 'rtmp://a', state: 'stopped' },
            { name: 'Twitch', serverUrl: 'rtmp://b', state: 'retrying' },
          ],
        },
      ],
      webhooks: [
        {
          webhook,
          newest: {
            deliveryId: 'de1',
            webhookId: 'wh1',
            type: 'webhook.test',
            status: 'failed',
            attemptsTotal: 1,
            createdAt: inHours(-1),
          },
        },
      ],
      trash: [{ deletesAt: inHours(5) }, { deletesAt: inHours(100) }],
      retention: { keepVideosDays: 30, next: [{ videoId: 'vi1', title: ' ', expiresAt: inHours(2) }] },
      failedInvitations: ['ann@example.com'],
      server: {
        ...machine,
        warnings: [
          { code: 'disk-full', text: 'The disk is full.' },
          { code: 'certificate-failed', text: 'No answer.' },
        ],
        newerVersion: '9.0.0',
      },
      unverifiedUsers: 2,
      checks: { checkedAt: inHours(-1), failed: [], warnings: ['Disk speed'] },
    }),
  ).toEqual([
    'bad: Uploads are refused: 900 MB of disk space is free, and 1 GB must stay free. Delete videos or free up space. [Open server]',
    'bad: No answer. [Open server]',
    'bad: “Film” failed [Open video]',
    'bad: “Harbour” is no longer sent to YouTube [Check restream]',
    'bad: The webhook to example.com is failing [See deliveries]',
    'warning: The checks of the server warn [See checks]',
    'warning: 95% of your storage is used [See usage]',
    'warning: The source of “Harbour” can’t be pulled [Check source]',
    'warning: “Harbour” can’t be sent to Twitch. Trying again. [Check restream]',
    'warning: “Untitled video” expires in 2 hours [Open video]',
    'warning: The invitation to ann@example.com couldn’t be sent [Open team]',
    'info: Millrace 9.0.0 is available [How to upgrade]',
    'info: 1 video in the trash will be deleted permanently [Open trash]',
    'info: 2 users have not verified their email address [Review]',
  ]);
});

test('a hook that refuses everybody is worse than one that lets everybody in', () => {
  const failure = {
    attemptedAt: inHours(-1),
    durationMs: 5,
    result: 'refused',
    test: false,
    remoteAddress: '192.0.2.1',
    error: 'The connection was refused.',
    errorCode: 'connection-refused',
  } as const;
  const hook = (kind: Hook['hook'], onFailure: Hook['onFailure'], results: Hook['results']) =>
    ({ hookId: kind, hook: kind, onFailure, results }) as Hook;
  const hooks = [
    hook('publish', 'refuse', [{ ...failure, test: true, error: undefined, statusCode: 200 }, failure]),
    hook('play', 'allow', [failure]),
  ];
  const items = attentionItems({ usage: usage(1), streams: [], hooks }, nowMs);
  expect(items.map(({ tone, text }) => `${tone}: ${text}`)).toEqual([
    expect.stringMatching(/^bad: Connection refused, .* Encoders are refused\.$/),
    expect.stringMatching(/^warning: Connection refused, .* Viewers play without its answer\.$/),
  ]);
  const mended = [{ ...failure, error: undefined, statusCode: 200 }, failure];
  expect(found({ hooks: [hook('play', 'refuse', mended)] })).toEqual([]);
});

test('says why a destination does not get the stream, instead of the code', () => {
  const restreams = [
    {
      stream: stream(),
      restreams: [
        {
          name: 'YouTube',
          serverUrl: 'rtmp://a',
          state: 'retrying' as const,
          reason: 'connection-refused' as const,
        },
      ],
    },
  ];
  const [item] = attentionItems({ usage: usage(1), streams: [], restreams }, nowMs);
  expect(item?.text).toMatch(/^The server refused the connection\./);
});
