import { describe, expect, test } from 'vitest';
import { judgeAudioCodec, judgeVideoCodec, mustEncode } from '../../../../src/live/broadcast/codec-policy.ts';
import { type Codec, codecs } from '../../../../src/media/samples/media-sample.ts';

const old = { packager: 'auto', canReadEnhancedFlv: false } as const;
const modern = { ...old, canReadEnhancedFlv: true } as const;
const unknown = (name: string): Codec => ({ name, fourCc: undefined });

describe('video', () => {
  test('copies H.264 with any ffmpeg', () => {
    expect(judgeVideoCodec(codecs.avc1, old)).toEqual({ take: 'copy' });
    expect(judgeVideoCodec(codecs.avc1, modern)).toEqual({ take: 'copy' });
  });

  test.each([codecs.hvc1, codecs.av01])(
    'copies $name over enhanced RTMP, and refuses it where an ffmpeg that cannot read it would have to',
    codec => {
      expect(judgeVideoCodec(codec, old)).toEqual({ take: 'copy' });
      expect(judgeVideoCodec(codec, { ...modern, packager: 'ffmpeg' })).toEqual({ take: 'copy' });
      const verdict = judgeVideoCodec(codec, { ...old, packager: 'ffmpeg' });
      expect(verdict.take === 'refuse' && verdict.description).toMatch(
        /^\S+ over enhanced RTMP needs ffmpeg 6\.1 or newer on a server that packages with ffmpeg\. Choose H\.264 in the encoder, or /,
      );
    },
  );

  test('encodes VP8, but not on a server that packages with ffmpeg', () => {
    expect(judgeVideoCodec(codecs.vp08, old)).toEqual({ take: 'copy' });
    expect([codecs.vp08, codecs.av01].map(mustEncode)).toEqual([true, false]);
    expect(judgeVideoCodec(codecs.vp08, { ...modern, packager: 'ffmpeg' })).toEqual({
      take: 'refuse',
      description:
        'VP8 must be encoded for players, which a server that packages with ffmpeg does not do. Choose H.264 in the encoder, or set live.packager to auto on the server.',
    });
  });

  test.each([
    unknown('VP6'),
    unknown('Sorenson H.263'),
    unknown('HEVC (without a FourCC)'),
    unknown('VP9'),
    unknown('VVC'),
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
  const direct = { packager: 'direct', canReadEnhancedFlv: true } as const;

  test('refuses audio that must be converted where only direct packaging is allowed', () => {
    expect(judgeAudioCodec(codecs['.mp3'], direct)).toEqual({
      take: 'refuse',
      description:
        'MP3 audio must be converted to AAC, and the settings of this server do not allow that. Choose AAC in the encoder.',
    });
  });

  test('copies AAC', () => {
    expect(judgeAudioCodec(codecs.mp4a, direct)).toEqual({ take: 'copy' });
  });

  test.each(['MP3', 'PCM', 'ADPCM', 'Nellymoser', 'Speex', 'G.711 A-law', 'G.711 mu-law'])(
    'encodes %s to AAC',
    name => {
      expect(judgeAudioCodec(unknown(name), old)).toEqual({ take: 'aac' });
    },
  );

  test.each(['Opus', 'AC-3', 'E-AC-3', 'FLAC'])('delivers %s, and AAC beside it', name => {
    expect(judgeAudioCodec(unknown(name), old)).toEqual({ take: 'both' });
    expect(judgeAudioCodec(unknown(name), direct)).toEqual({ take: 'copy' });
    expect(judgeAudioCodec(unknown(name), { ...modern, packager: 'ffmpeg' })).toEqual({
      take: 'refuse',
      description: `The settings of this server do not allow ${name} audio. Choose AAC in the encoder.`,
    });
  });

  test('refuses unknown audio with advice', () => {
    expect(judgeAudioCodec(unknown('audio codec 12'), modern)).toEqual({
      take: 'refuse',
      description: 'audio codec 12 is not supported. Choose AAC in the encoder.',
    });
  });
});
