import { describe, expect, it } from 'vitest';
import type { ThumbnailMedia } from '../../../../src/ffmpeg/part-thumbnails.ts';
import type { BroadcastSubscriber } from '../../../../src/live/broadcast/broadcast-subscriber.ts';
import { LiveThumbnails } from '../../../../src/live/transcode/live-thumbnails.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';

interface Run {
  readonly media: ThumbnailMedia;
  finish(picture: Buffer | undefined): Promise<void>;
}

/** Pictures that are made when the test says so. */
function framesOfTest() {
  const time = { ms: 0 };
  const runs: Run[] = [];
  const forgotten = new Set<string>();
  const frames = new LiveThumbnails({
    makeThumbnail: media => {
      const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
      const finish = async (picture: Buffer | undefined) => {
        resolve(picture);
        // The turn of the next one comes some microtasks later.
        await new Promise(setImmediate);
      };
      runs.push({ media, finish });
      return promise;
    },
    isPlayable: (_, broadcastId) => !forgotten.has(broadcastId),
    clock: { nowMs: () => 0, monotonicMs: () => time.ms },
    log: silentLogger,
  });
  const follow = (broadcastId: string): BroadcastSubscriber =>
    frames.follow({
      broadcastId,
      liveStreamId: `li-${broadcastId}`,
      projectId: 'p',
      environment: 'production',
      startedAtMs: 0,
      restreams: [],
    });
  return { time, runs, forgotten, frames, follow };
}

const tracks = { video: { height: 720 } } as never;

function begin(follower: BroadcastSubscriber): void {
  follower.tracks?.('source', tracks, Buffer.from('init'), false);
}

function part(follower: BroadcastSubscriber, text: string, more: object = {}): void {
  const media = { body: Buffer.from(text), durationSeconds: 0.2, isIndependent: true, newestFrameMs: 0 };
  const ownership = { claim: () => () => {}, hold: () => () => {} };
  follower.part?.({ ...media, rendition: 'source', isSlate: false, ...ownership, ...more });
}

const textOf = (frame: { body: Buffer } | undefined) => frame?.body.toString();

describe('the picture of a broadcast', () => {
  it('is made of the newest part with a keyframe that came from the publisher', async () => {
    const { runs, frames, follow } = framesOfTest();
    const follower = follow('b1');
    part(follower, 'before its tracks');
    expect(frames.hasFrame('b1')).toBe(false);
    expect(await frames.frame('b1')).toBeUndefined();
    begin(follower);
    part(follower, 'old');
    part(follower, 'new');
    part(follower, 'no keyframe', { isIndependent: false });
    part(follower, 'of a slate', { isSlate: true });
    part(follower, 'of another', { rendition: '240p' });
    expect(frames.hasFrame('b1')).toBe(true);
    const first = frames.frame('b1');
    await new Promise(setImmediate);
    expect(runs.map(({ media }) => [media.init.toString(), media.part.toString(), media.height])).toEqual([
      ['init', 'new', 720],
    ]);
    await runs[0]!.finish(Buffer.from('picture'));
    expect(await first).toMatchObject({
      contentType: 'image/jpeg',
      etag: expect.stringMatching(/^"[\w-]+"$/),
    });
  });

  it('is sent though it is old, while one newer than ten seconds is made once for all who ask', async () => {
    const { time, runs, frames, follow } = framesOfTest();
    const follower = follow('b1');
    begin(follower);
    part(follower, 'one');
    const asked = Promise.all([frames.frame('b1'), frames.frame('b1')]);
    await new Promise(setImmediate);
    await runs[0]!.finish(Buffer.from('first'));
    expect((await asked).map(textOf)).toEqual(['first', 'first']);
    part(follower, 'two');
    time.ms = 9_999;
    expect(textOf(await frames.frame('b1'))).toBe('first');
    expect(runs).toHaveLength(1);
    time.ms = 10_000;
    for (const _ of [1, 2, 3]) expect(textOf(await frames.frame('b1'))).toBe('first');
    await new Promise(setImmediate);
    expect(runs).toHaveLength(2);
    await runs[1]!.finish(Buffer.from('second'));
    expect(textOf(await frames.frame('b1'))).toBe('second');
  });

  it('stays as it is where another one fails, which is tried again no sooner than in ten seconds', async () => {
    const { time, runs, frames, follow } = framesOfTest();
    const follower = follow('b1');
    begin(follower);
    part(follower, 'one');
    const first = frames.frame('b1');
    await new Promise(setImmediate);
    await runs[0]!.finish(undefined);
    expect(await first).toBeUndefined();
    part(follower, 'two');
    expect(await frames.frame('b1')).toBeUndefined();
    expect(runs).toHaveLength(1);
    time.ms = 10_000;
    const again = frames.frame('b1');
    await new Promise(setImmediate);
    await runs[1]!.finish(Buffer.from('picture'));
    expect(textOf(await again)).toBe('picture');
  });

  it('is made of two broadcasts at a time, the others in turn', async () => {
    const { runs, frames, follow } = framesOfTest();
    const ids = ['b1', 'b2', 'b3', 'b4'];
    for (const id of ids) {
      const follower = follow(id);
      begin(follower);
      part(follower, id);
    }
    const asked = ids.map(id => frames.frame(id));
    await new Promise(setImmediate);
    const made = () => runs.map(({ media }) => media.part.toString());
    expect(made()).toEqual(['b1', 'b2']);
    await runs[1]!.finish(Buffer.from('of b2'));
    expect(made()).toEqual(['b1', 'b2', 'b3']);
    for (const index of [0, 2, 3]) await runs[index]!.finish(Buffer.from('p'));
    expect((await Promise.all(asked)).map(textOf)).toEqual(['p', 'of b2', 'p', 'p']);
  });

  it('is kept after the end for as long as the broadcast can be played', async () => {
    const { runs, forgotten, frames, follow } = framesOfTest();
    const [first, second] = [follow('b1'), follow('b2')];
    begin(first);
    part(first, 'last words');
    first.ended('completed');
    const asked = frames.frame('b1');
    await new Promise(setImmediate);
    await runs[0]!.finish(Buffer.from('last'));
    expect(textOf(await asked)).toBe('last');
    expect(frames.hasFrame('b1')).toBe(true);
    forgotten.add('b1');
    second.ended('completed');
    expect(frames.hasFrame('b1')).toBe(false);
  });

  it('of broadcasts that ended takes no more than 32 MiB in all', () => {
    const { frames, follow } = framesOfTest();
    for (let index = 0; index < 40; index++) {
      const follower = follow(`b${index}`);
      begin(follower);
      part(follower, '', { body: Buffer.alloc(1024 * 1024) });
      follower.ended('completed');
    }
    const kept = Array.from({ length: 40 }, (_, index) => frames.hasFrame(`b${index}`));
    expect(kept.filter(Boolean)).toHaveLength(32);
    expect(kept.slice(-32)).not.toContain(false);
  });

  it('is not there for sound alone', async () => {
    const { frames, follow } = framesOfTest();
    const follower = follow('b1');
    follower.tracks?.('source', { audio: {} } as never, Buffer.from('init'), false);
    part(follower, 'sound');
    expect(frames.hasFrame('b1')).toBe(false);
  });
});
