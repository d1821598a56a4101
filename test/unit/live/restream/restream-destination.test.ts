import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RestreamDestination } from '../../../../src/live/restream/restream-destination.ts';
import { RestreamError } from '../../../../src/live/restream/restream-failure.ts';
import { RestreamFeed } from '../../../../src/live/restream/restream-feed.ts';
import { RestreamFormat } from '../../../../src/live/restream/restream-format.ts';
import { restreamTimeouts } from '../../../../src/live/restream/restream-retries.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { samples } from '../../../support/media-samples.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const config = samples.videoConfig('avc1', Buffer.of(1));
const keyframe = samples.video('avc1', { dtsMs: 0, isKeyframe: true, data: Buffer.of(1) });

/** A destination whose every try fails, and when it was tried, in seconds. */
function failing(error: Error) {
  const tries: number[] = [];
  const feed = new RestreamFeed('source');
  const destination = new RestreamDestination({
    restream: { name: 'Mirror', serverUrl: 'rtmp://u:p@mirror.example/app?t=1', streamKey: 'key' },
    feed,
    dial: async () => {
      tries.push(Math.round(performance.now() / 1000));
      throw error;
    },
    sandboxTime: undefined,
    times: restreamTimeouts,
    observer: { bytesOut() {}, framesDropped() {}, retried() {}, failed() {} },
    onStopped: () => {},
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    log: silentLogger,
    random: () => 0.5,
  });
  feed.take({ media: config, atMs: 0 });
  const play = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      feed.take({ media: keyframe, atMs: 0 });
      feed.flush();
      await vi.advanceTimersByTimeAsync(1_000);
    }
  };
  return { destination, tries, play };
}

const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

describe('a destination that fails', () => {
  it('is tried again less and less often, up to once a minute', async () => {
    const { destination, tries, play } = failing(refused);
    await play(300);
    const waits = tries.slice(1).map((at, index) => at - tries[index]!);
    expect(waits.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(destination.status).toMatchObject({
      name: 'Mirror',
      serverUrl: 'rtmp://mirror.example/app',
      state: 'retrying',
      reason: 'connection-refused',
      retries: tries.length - 1,
      bitrateBitsPerSecond: 0,
    });
    await destination.end(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('for a reason that somebody has to remove is tried once a minute', async () => {
    const lasting = { reason: 'not-public', detail: 'No.', isLasting: true } as const;
    const { destination, tries, play } = failing(new RestreamError(lasting));
    await play(125);
    expect(tries.map(at => at - tries[0]!)).toEqual([0, 60, 120]);
    await destination.end(false);
  });

  it('by refusing is tried soon for some times, since it may hold a former connection', async () => {
    const lasting = { reason: 'refused', detail: 'Already publishing.', isLasting: true } as const;
    const { destination, tries, play } = failing(new RestreamError(lasting));
    await play(130);
    expect(tries.map(at => at - tries[0]!)).toEqual([0, 1, 3, 7, 67, 127]);
    await destination.end(false);
  });

  it('is not tried while nothing is published', async () => {
    const { destination, tries, play } = failing(refused);
    await play(1);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(tries).toHaveLength(1);
    await play(1);
    expect(tries).toHaveLength(2);
    await destination.end(true);
  });
});

describe('what a broadcast consists of', () => {
  it('is another thing when the decoder is to be set up anew, and not when it is told the same again', () => {
    const format = new RestreamFormat();
    format.update(config);
    const { current } = format;
    format.publisherGone();
    format.update(samples.videoConfig('avc1', Buffer.of(1)));
    expect(format.current).toBe(current);
    format.update(samples.videoConfig('avc1', Buffer.of(2)));
    expect(format.current).not.toBe(current);
    expect(format.current).toEqual({ video: samples.videoConfig('avc1', Buffer.of(2)) });
  });

  it('is sound that needs no configuration too', () => {
    const format = new RestreamFormat();
    const sound = samples.audio('.mp3', { dtsMs: 0, data: Buffer.of(1, 2) });
    format.update(sound);
    expect(format.current).toEqual({ audio: sound });
    expect(format.isAudioOnly).toBe(false);
    for (let times = 0; times < 50; times += 1) format.update(sound);
    expect(format.isAudioOnly).toBe(true);
    format.update(config);
    expect(format.isAudioOnly).toBe(false);
  });

  it('loses a track that a publisher that came back does not send', () => {
    const format = new RestreamFormat();
    format.update(config);
    format.publisherGone();
    for (let at = 0; at < 300; at += 1) {
      format.update(samples.audio('.mp3', { dtsMs: at, data: Buffer.of(1, 2) }));
    }
    expect(format.current).not.toHaveProperty('video');
  });
});
