import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withMediaTimeout } from '../../../src/ingest/media-timeout.ts';
import type { PublisherConnection, PublisherSink } from '../../../src/ingest/publish-gate.ts';
import { acceptInto, goodKey, type RecordedPublisher } from '../../support/ingest-client.ts';
import { samples } from '../../support/media-samples.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const video = samples.video('avc1', { dtsMs: 0, data: Buffer.alloc(8) });
const audio = samples.audio('mp4a', { dtsMs: 0, data: Buffer.alloc(8) });
const declared = { type: 'declared', media: { hasAudio: true, hasVideo: true } } as const;

async function publish() {
  const publishers: RecordedPublisher[] = [];
  const closed: unknown[][] = [];
  const flow: string[] = [];
  let sink: PublisherSink | undefined;
  const connection: PublisherConnection = {
    ...{ connectionId: 'co1', remoteAddress: '192.0.2.1', bytesIn: 0 },
    refuse: () => {},
    close: (...told) => {
      closed.push(told);
      sink?.closed('idle-timeout');
    },
    pause: () => void flow.push('pause'),
    resume: () => void flow.push('resume'),
  };
  const gate = withMediaTimeout(
    { request: async (request, seen) => acceptInto(publishers, request, seen) },
    30_000,
  );
  const { connectionId, remoteAddress } = connection;
  const { signal } = new AbortController();
  const decision = await gate.request(
    { connectionId, remoteAddress, protocol: 'srt', streamKey: goodKey, query: '', encoder: '', signal },
    connection,
  );
  if (decision.accepted) sink = decision.sink;
  return { sink: sink!, publisher: publishers[0]!, closed, flow };
}

test('a publisher that sends only keepalives and metadata is told and closed after the time without media', async () => {
  const { sink, publisher, closed } = await publish();
  await vi.advanceTimersByTimeAsync(29_000);
  sink.media(video);
  await vi.advanceTimersByTimeAsync(29_000);
  sink.media(audio);
  await vi.advanceTimersByTimeAsync(20_000);
  sink.media(declared);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(closed).toEqual([[expect.stringContaining('No audio or video arrived for 30 s.'), 'idle-timeout']]);
  expect(publisher.tags).toHaveLength(3);
  expect(publisher.closeReasons).toEqual(['idle-timeout']);
  expect(vi.getTimerCount()).toBe(0);
});

test('nothing is expected of a publisher that is paused, or gone', async () => {
  const { sink, publisher, closed, flow } = await publish();
  publisher.connection.pause();
  // What was already received.
  sink.media(video);
  await vi.advanceTimersByTimeAsync(100_000);
  publisher.connection.resume();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(closed).toEqual([]);
  expect(flow).toEqual(['pause', 'resume']);
  sink.closed('unpublished');
  publisher.connection.resume();
  expect(vi.getTimerCount()).toBe(0);
});
