import { describe, expect, it } from 'vitest';
import { streamMetadata } from '../../../../src/media/flv/stream-metadata.ts';

describe('metadata of a stream', () => {
  it('names codecs and sample rate', () => {
    const metadata = streamMetadata({
      video: Buffer.from([0x17, 0, 0, 0, 0, 1]),
      audio: Buffer.from([0xaf, 0, 0x11, 0x90]),
    });
    expect(Object.fromEntries(metadata)).toEqual({
      ...{
        duration: 0,
        videocodecid: 7,
        audiocodecid: 10,
        audiosamplerate: 48_000,
      },
      ...{ stereo: true, encoder: 'Millrace' },
    });
  });

  it('names enhanced codecs by their FourCC', () => {
    const video = Buffer.concat([Buffer.from([0x90]), Buffer.from('hvc1')]);
    expect(streamMetadata({ video }).get('videocodecid')).toBe(0x68766331);
  });

  it('takes configurations that are too short, and tracks that are missing', () => {
    expect([...streamMetadata({}).keys()]).toEqual(['duration', 'encoder']);
    const short = { video: Buffer.from([0x17, 0, 0, 0, 0, 1]), audio: Buffer.from([0xaf, 0]) };
    expect(Object.fromEntries(streamMetadata(short))).toMatchObject({ videocodecid: 7, audiocodecid: 10 });
  });
});
