import { describe, expect, it } from 'vitest';
import { PackagedSamples } from '../../../../src/live/restream/packaged-samples.ts';
import type { RestreamMedia } from '../../../../src/live/restream/restream-feed.ts';
import { box, u8, u16, u32 } from '../../../../src/media/cmaf/box-writer.ts';
import type { Sample } from '../../../../src/media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../../../src/media/cmaf/movie-box.ts';
import { compositionMs, type MediaSample } from '../../../../src/media/samples/media-sample.ts';
import { samples } from '../../../support/media-samples.ts';

const avcC = Buffer.from('0142c00affe100046742c00a01000268ce', 'hex');
const video: TrackDescription = {
  id: 1,
  kind: 'video',
  timescale: 90_000,
  sampleEntry: box('avc1', Buffer.alloc(24), u16(160, 90), Buffer.alloc(50), box('avcC', avcC)),
  codec: 'avc1.42c00a',
};
const specific = Buffer.from('1190', 'hex');
const decoderConfig = Buffer.concat([u8(0x04, 17, 0x40), Buffer.alloc(12), u8(0x05, 2), specific]);
const esds = Buffer.concat([u32(0), u8(0x03, 3 + decoderConfig.length), u16(0), u8(0), decoderConfig]);
const audio: TrackDescription = {
  id: 2,
  kind: 'audio',
  timescale: 48_000,
  sampleEntry: box('mp4a', Buffer.alloc(8), Buffer.alloc(8), u16(2, 16, 0, 0, 48_000, 0), box('esds', esds)),
  codec: 'mp4a.40.2',
};

function sampleOf(text: string, isSync = true, compositionOffsetTicks = 0): Sample {
  const rest = { trackId: 1, dtsTicks: 0, durationTicks: 0 };
  return { ...rest, compositionOffsetTicks, isSync, data: Buffer.from(text) };
}

function started(tracks: Partial<Record<'audio' | 'video', TrackDescription>>) {
  const sent: RestreamMedia[] = [];
  const packaged = new PackagedSamples(media => sent.push(media));
  return { packaged, sent, isTaken: packaged.begin(tracks) };
}

describe('packaged samples for destinations', () => {
  it('begin with what sets the decoders up', () => {
    const { sent } = started({ video, audio });
    expect(sent).toEqual([
      { media: samples.videoConfig('avc1', avcC), atMs: 0 },
      { media: samples.audioConfig('mp4a', specific), atMs: 0 },
    ]);
  });

  it('have their frame type and how much later they are shown, also when that is sooner', () => {
    const { packaged, sent } = started({ video });
    packaged.add('video', sampleOf('key', true, 9_000), 0);
    packaged.add('video', sampleOf('b', false, -3_600), 40);
    const frames = sent.slice(1).map(({ media }) => media as MediaSample);
    expect(frames.map(frame => [frame.isKeyframe, compositionMs(frame), String(frame.data)])).toEqual([
      [true, 100, 'key'],
      [false, -40, 'b'],
    ]);
  });

  it('of two tracks come in the order of their times', () => {
    const { packaged, sent } = started({ video, audio });
    for (const atMs of [0, 40, 80]) packaged.add('video', sampleOf('v'), atMs);
    for (const atMs of [10.4, 31.7, 53]) packaged.add('audio', sampleOf('a'), atMs);
    packaged.flush();
    expect(sent.slice(2).map(({ media, atMs }) => `${media.kind} ${atMs}`)).toEqual([
      'video 0',
      'audio 10',
      'audio 32',
      'video 40',
      'audio 53',
      'video 80',
    ]);
  });

  it('of one track do not wait for ever for another one that is silent', () => {
    const { packaged, sent } = started({ video, audio });
    for (let atMs = 0; atMs <= 2_000; atMs += 40) packaged.add('video', sampleOf('v'), atMs);
    expect(sent.at(-1)!.atMs).toBeGreaterThanOrEqual(960);
  });

  it('are not made of other codecs', () => {
    const sampleEntry = box('hvc1', Buffer.alloc(24), u16(160, 90), Buffer.alloc(50));
    expect(started({ video: { ...video, sampleEntry, codec: 'hvc1.1.6.L93.B0' } }).isTaken).toBe(false);
  });
});
