import { describe, expect, it } from 'vitest';
import { streamMetadata } from '../../../../src/media/flv/stream-metadata.ts';

/** Configuration of x264: 1920x1080, 30 fps. */
const avcConfig = Buffer.from(
  '170000000001640028ffe1001b67640028acd940780227e5c044000003000400000300f03c60c65801000668ebe3cb22c0',
  'hex',
);

describe('metadata of a stream', () => {
  it('names codecs, visible size, frame rate and sample rate', () => {
    const metadata = streamMetadata({ video: avcConfig, audio: Buffer.from([0xaf, 0, 0x11, 0x90]) });
    expect(Object.fromEntries(metadata)).toEqual({
      duration: 0,
      videocodecid: 7,
      width: 1920,
      height: 1080,
      framerate: 30,
      audiocodecid: 10,
      audiosamplerate: 48_000,
      stereo: true,
      encoder: 'Millrace',
    });
  });

  it('names enhanced codecs by their FourCC', () => {
    const video = Buffer.concat([Buffer.from([0x90]), Buffer.from('hvc1')]);
    expect(streamMetadata({ video }).get('videocodecid')).toBe(0x68766331);
  });

  it('takes configurations that are too short, and tracks that are missing', () => {
    expect([...streamMetadata({}).keys()]).toEqual(['duration', 'encoder']);
    for (let bytes = 0; bytes < avcConfig.length; bytes += 1) {
      const video = avcConfig.subarray(0, bytes);
      const audio = Buffer.from([0xaf, 0, 0x11, 0x90]).subarray(0, bytes);
      expect(streamMetadata({ video, audio }).get('encoder')).toBe('Millrace');
    }
  });
});
