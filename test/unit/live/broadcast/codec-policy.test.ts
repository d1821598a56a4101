import { describe, expect, test } from 'vitest';
import { judgeAudioCodec, judgeVideoCodec } from '../../../../src/live/broadcast/codec-policy.ts';

const old = { canReadEnhancedFlv: false };
const modern = { canReadEnhancedFlv: true };
const plain = (name: string) => ({ name, isEnhanced: false });
const enhanced = (name: string) => ({ name, isEnhanced: true });

describe('video', () => {
  test('copies H.264 with any ffmpeg', () => {
    expect(judgeVideoCodec(plain('H.264'), old)).toEqual({ take: 'copy' });
    expect(judgeVideoCodec(plain('H.264'), modern)).toEqual({ take: 'copy' });
  });

  test.each(['HEVC', 'AV1', 'H.264'])(
    'copies %s over enhanced RTMP when ffmpeg reads it, else refuses it with a reason',
    name => {
      expect(judgeVideoCodec(enhanced(name), modern)).toEqual({ take: 'copy' });
      const verdict = judgeVideoCodec(enhanced(name), old);
      expect(verdict).toEqual({
        take: 'refuse',
        description: `${name} over enhanced RTMP needs ffmpeg 6.1 or newer on the server. Choose H.264 in the encoder.`,
      });
    },
  );

  test.each([
    plain('VP6'),
    plain('Sorenson H.263'),
    plain('HEVC (without a FourCC)'),
    enhanced('VP9'),
    enhanced('VVC'),
  ])('refuses $name with advice, with any ffmpeg', codec => {
    for (const abilities of [old, modern]) {
      expect(judgeVideoCodec(codec, abilities)).toEqual({
        take: 'refuse',
        description: `${codec.name} video cannot be delivered over HLS. Choose H.264 in the encoder.`,
      });
    }
  });
});

describe('audio', () => {
  test('copies AAC', () => {
    expect(judgeAudioCodec(plain('AAC'))).toEqual({ take: 'copy' });
  });

  test.each(['MP3', 'PCM', 'ADPCM', 'Nellymoser', 'Speex', 'G.711 A-law', 'G.711 mu-law'])(
    'encodes %s to AAC',
    name => {
      expect(judgeAudioCodec(plain(name))).toEqual({ take: 'aac' });
    },
  );

  test.each([plain('audio codec 12'), enhanced('Opus'), enhanced('FLAC'), enhanced('AAC')])(
    'refuses $name with advice',
    codec => {
      const verdict = judgeAudioCodec(codec);
      expect(verdict).toMatchObject({ take: 'refuse' });
      expect(verdict.take === 'refuse' && verdict.description).toContain('Choose AAC in the encoder.');
    },
  );
});
