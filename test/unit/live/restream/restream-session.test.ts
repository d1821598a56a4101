import { describe, expect, it } from 'vitest';
import type { RestreamConfig } from '../../../../src/live/broadcast/broadcast-subscriber.ts';
import { Restreamer } from '../../../../src/live/restream/restreamer.ts';
import { vp8Record } from '../../../../src/media/codecs/vp8.ts';
import type { CodecConfig } from '../../../../src/media/samples/media-sample.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { samples } from '../../../support/media-samples.ts';
import { audioTrack, videoTrack } from '../../../support/recording-sink.ts';

const unreachable = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));

function follow(restreams: readonly RestreamConfig[], environment: 'sandbox' | 'production' = 'production') {
  const stopped: string[] = [];
  const restreamer = new Restreamer({
    dial: unreachable,
    sandboxLimitMs: 1_000,
    onStopped: async ({ name, reason }) => void stopped.push(`${name}: ${reason}`),
    observer: { bytesOut() {}, framesDropped() {}, retried() {}, failed() {} },
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    log: silentLogger,
  });
  const subscriber = restreamer.follow({
    broadcastId: 'br',
    liveStreamId: 'li',
    projectId: 'pr',
    environment,
    startedAtMs: 0,
    restreams,
  });
  const renditions = () => restreamer.ofStream('li')!.map(({ rendition }) => rendition);
  return { restreamer, subscriber, renditions, stopped };
}

const mirror = { name: 'Mirror', serverUrl: 'rtmp://mirror.example/app', streamKey: 'key' };

describe('the source', () => {
  it('is what is encoded from video that players cannot play, until another publisher comes', async () => {
    const { restreamer, subscriber, stopped } = follow([mirror]);
    const opus = { ...audioTrack, sampleEntry: Buffer.from(audioTrack.sampleEntry) };
    opus.sampleEntry.write('Opus', 4);
    const config = (media: CodecConfig) => subscriber.media!({ media, atMs: 0, isSlate: false });
    // Players may get what destinations cannot.
    subscriber.tracks!('source', { video: videoTrack, audio: opus }, Buffer.alloc(0), false);
    expect(stopped).toEqual([]);
    config(samples.videoConfig('vp08', vp8Record({ width: 640, height: 360 })));
    expect(stopped).toEqual(['Mirror: codec']);
    config(samples.videoConfig('avc1', Buffer.alloc(8)));
    restreamer.update('li', [{ ...mirror, streamKey: 'other' }]);
    expect(stopped).toEqual(['Mirror: codec']);
    await restreamer.stop();
  });
});

describe('the rendition of a destination', () => {
  it('is the source once the chosen one is not encoded, or no longer', async () => {
    const { restreamer, subscriber, renditions } = follow([
      mirror,
      { ...mirror, rendition: '720p' },
      { ...mirror, rendition: '480p' },
    ]);
    expect(renditions()).toEqual(['source', '720p', '480p']);
    subscriber.encodedRenditions!(['360p', '480p']);
    expect(renditions()).toEqual(['source', 'source', '480p']);
    subscriber.encodedRenditions!(['360p']);
    expect(renditions()).toEqual(['source', 'source', 'source']);
    subscriber.encodedRenditions!(['360p', '480p', '720p']);
    expect(renditions()).toEqual(['source', '720p', '480p']);
    restreamer.update('li', [{ ...mirror, rendition: '1080p' }]);
    expect(renditions()).toEqual(['source']);
    await restreamer.stop();
  });

  it('stops destinations when it cannot be sent, also those that are added later', async () => {
    const { restreamer, subscriber, stopped } = follow([mirror], 'sandbox');
    const hevc = { ...videoTrack, sampleEntry: Buffer.from(videoTrack.sampleEntry) };
    hevc.sampleEntry.write('hvc1', 4);
    subscriber.tracks!('source', { video: hevc, audio: audioTrack }, Buffer.alloc(0), false);
    expect(stopped).toEqual(['Mirror: codec']);
    restreamer.update('li', [mirror, { ...mirror, name: 'Other', streamKey: 'other' }]);
    expect(stopped).toEqual(['Mirror: codec', 'Other: codec']);
    await restreamer.stop();
  });
});
