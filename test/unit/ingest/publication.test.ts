import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { noopIngestObserver } from '../../../src/ingest/ingest-observer.ts';
import { type ProtocolConnection, Publication } from '../../../src/ingest/publication.ts';
import type { PublishDecision, PublisherConnection, PublishGate } from '../../../src/ingest/publish-gate.ts';
import type { MediaEvent } from '../../../src/media/samples/media-sample.ts';
import { type LogLine, recordingLogger } from '../../support/ingest-client.ts';
import { samples } from '../../support/media-samples.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const data = Buffer.alloc(8);
const config = samples.videoConfig('avc1', data);
const frame = samples.video('avc1', { dtsMs: 40, data });
const keyframe = samples.video('avc1', { dtsMs: 80, isKeyframe: true, data });
const audio = samples.audio('mp4a', { dtsMs: 0, data });
const declared = { type: 'declared', media: { hasAudio: true, hasVideo: true } } as const;
const large = samples.video('avc1', { dtsMs: 0, data: Buffer.alloc(9 * 1024 ** 2) });

function start(change: Partial<PublishGate> = {}, connection: Partial<ProtocolConnection> = {}) {
  const received: MediaEvent[] = [];
  const closed: string[] = [];
  const told: unknown[][] = [];
  const counts: string[] = [];
  const log: LogLine[] = [];
  const answer = Promise.withResolvers<PublishDecision>();
  let link: PublisherConnection | undefined;
  let signal: AbortSignal | undefined;
  const publication: Publication = new Publication({
    request: {
      connectionId: 'co1',
      protocol: 'srt',
      remoteAddress: '192.0.2.1',
      streamKey: 'a-long-stream-key',
      query: '',
      encoder: 'test',
    },
    gate: {
      request: (request, seen) => {
        link = seen;
        signal = request.signal;
        return answer.promise;
      },
      ...change,
    },
    observer: {
      ...noopIngestObserver,
      publisherOpened: () => counts.push('opened'),
      publisherClosed: reason => counts.push(`closed ${reason}`),
      refused: reason => counts.push(`refused ${reason}`),
    },
    log: recordingLogger(log),
    connection: {
      bytesIn: 7,
      end: (...args) => {
        told.push(args);
        publication.end(args[1]);
      },
      failed: () => publication.end('ended-by-server'),
      ...connection,
    },
  });
  const sink = {
    media: (event: MediaEvent) => void received.push(event),
    closed: (why: string) => void closed.push(why),
  };
  const opened = publication.open();
  const accept = async () => {
    answer.resolve({ accepted: true, sink });
    expect(await opened).toBeUndefined();
  };
  return {
    publication,
    received,
    closed,
    told,
    counts,
    log,
    answer,
    sink,
    opened,
    accept,
    link: () => link!,
    signal: () => signal!,
  };
}

describe('until the gate answers', () => {
  test('media is held, and passed on in order', async () => {
    const { publication, received, counts, accept } = start();
    for (const event of [declared, config, keyframe]) publication.media(event);
    expect([received, publication.isAccepted]).toEqual([[], false]);
    await accept();
    publication.media(frame);
    expect(received).toEqual([declared, config, keyframe, frame]);
    expect(counts).toEqual(['opened']);
  });

  test('a refusal is counted, logged without the key, and returned with its text', async () => {
    const { publication, received, counts, log, answer, opened } = start();
    publication.media(keyframe);
    const refusal = { accepted: false, reason: 'unknown-key', description: 'No.' } as const;
    answer.resolve(refusal);
    expect(await opened).toBe(refusal);
    expect(counts).toEqual(['refused unknown-key']);
    expect(log).toMatchObject([
      { event: 'publish-refused', data: { reason: 'unknown-key', encoder: 'test' } },
    ]);
    expect(JSON.stringify(log)).not.toContain('a-long-stream-key');
    expect(received).toEqual([]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('a gate that %s refuses', async (_, request) => {
    const { counts, opened } = start({ request });
    expect(await opened).toMatchObject({ reason: 'gate-failed' });
    expect(counts).toEqual(['refused gate-failed']);
  });

  test('a publisher that leaves aborts the request, and an accepted receiver is closed at once', async () => {
    const { publication, closed, counts, signal, accept } = start();
    publication.end('connection-closed');
    expect(signal().aborted).toBe(true);
    await accept();
    expect([closed, counts, publication.isAccepted]).toEqual([['connection-closed'], [], false]);
  });
});

describe('a receiver', () => {
  test('that pauses gets what was held when it resumes, and pauses the protocol that can wait', async () => {
    const flow: string[] = [];
    const { publication, received, link, accept } = start(
      {},
      { pause: () => void flow.push('pause'), resume: () => void flow.push('resume') },
    );
    await accept();
    link().pause();
    publication.media(keyframe);
    publication.media(frame);
    expect(received).toEqual([]);
    link().resume();
    expect([received, flow]).toEqual([
      [keyframe, frame],
      ['pause', 'resume'],
    ]);
  });

  test('that pauses for long loses media up to the next keyframe, and no configuration', async () => {
    const { publication, received, link, accept } = start();
    await accept();
    link().pause();
    for (const event of [large, frame, config]) publication.media(event);
    link().resume();
    for (const event of [frame, audio, keyframe, frame]) publication.media(event);
    expect(received).toEqual([large, config, audio, keyframe, frame]);
  });

  test('gets what was held, and its end once', async () => {
    const { publication, received, closed, counts, link, accept } = start();
    await accept();
    link().pause();
    publication.media(keyframe);
    publication.end('unpublished');
    publication.end('connection-closed');
    publication.media(frame);
    expect([received, closed]).toEqual([[keyframe], ['unpublished']]);
    expect(counts).toEqual(['opened', 'closed unpublished']);
  });

  test('that fails ends its publisher', async () => {
    const { publication, closed, log, sink, accept } = start();
    sink.media = () => {
      throw new Error('broken');
    };
    await accept();
    publication.media(frame);
    expect([closed, log.filter(({ level }) => level === 'error')]).toMatchObject([
      ['ended-by-server'],
      [{ event: 'sink-failed' }],
    ]);
  });
});

describe('without audio and video', () => {
  const mediaTimeoutMs = 30_000;

  test('a publisher that sends only keepalives and metadata is told and closed', async () => {
    const { publication, told, closed, accept } = start({ mediaTimeoutMs });
    await accept();
    await vi.advanceTimersByTimeAsync(29_000);
    publication.media(frame);
    await vi.advanceTimersByTimeAsync(29_000);
    publication.media(audio);
    await vi.advanceTimersByTimeAsync(20_000);
    publication.media(declared);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual([[expect.stringContaining('No audio or video arrived for 30 s.'), 'idle-timeout']]);
    expect(closed).toEqual(['idle-timeout']);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('nothing is expected of a publisher that is paused, or gone', async () => {
    const { publication, told, link, accept } = start({ mediaTimeoutMs });
    await accept();
    link().pause();
    await vi.advanceTimersByTimeAsync(100_000);
    link().resume();
    await vi.advanceTimersByTimeAsync(29_999);
    expect(told).toEqual([]);
    publication.end('unpublished');
    link().resume();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a receiver that pauses again while it takes what was held', () => {
  test('gets the rest in order, also when it resumes at once', async () => {
    const { publication, received, sink, accept, link } = start();
    for (const event of [config, keyframe, frame]) publication.media(event);
    sink.media = event => {
      if (event === config) {
        link().pause();
        link().resume();
      }
      received.push(event);
    };
    await accept();
    expect(received).toEqual([config, keyframe, frame]);
  });

  test('stays without media of a source that can wait', async () => {
    const resume = vi.fn();
    const { publication, received, sink, accept, link } = start({}, { pause: () => {}, resume });
    await accept();
    link().pause();
    for (const event of [config, keyframe]) publication.media(event);
    sink.media = event => {
      received.push(event);
      link().pause();
    };
    link().resume();
    expect(received).toEqual([config]);
    expect(resume).not.toHaveBeenCalled();
  });
});
