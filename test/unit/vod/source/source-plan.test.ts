import { describe, expect, test } from 'vitest';
import type { ProbedFile, ProbedStream } from '../../../../src/ffmpeg/media-tools.ts';
import { planSource } from '../../../../src/vod/source/source-plan.ts';
import type { SourceRequest } from '../../../../src/vod/source/source-request.ts';

const videoStream: ProbedStream = {
  index: 0,
  kind: 'video',
  codec: 'h264',
  profile: 'High',
  width: 1280,
  height: 720,
  rotation: 0,
  pixelAspect: 1,
  pixelFormat: 'yuv420p',
  fieldOrder: 'progressive',
  averageFrameRate: 30,
  bitsPerSecond: 2_000_000,
  isDefault: true,
  isCoverImage: false,
};
const audioStream: ProbedStream = {
  index: 1,
  kind: 'audio',
  codec: 'aac',
  profile: 'LC',
  sampleRate: 48_000,
  channels: 2,
  isDefault: true,
  isCoverImage: false,
};

function file(streams: readonly ProbedStream[], values: Partial<ProbedFile> = {}): ProbedFile {
  return { format: 'mov,mp4', durationSeconds: 60, bytes: 1_000_000, streams, ...values };
}

function planned(
  streams: readonly ProbedStream[],
  request: SourceRequest = {},
  values: Partial<ProbedFile> = {},
) {
  const plan = planSource(file(streams, values), request);
  if (plan.kind === 'refused') throw new Error(plan.reason);
  return plan;
}

describe('a source is refused, with a sentence as the reason:', () => {
  test.each<[string, ProbedFile, SourceRequest, RegExp]>([
    ['no streams', file([]), {}, /no video or audio/],
    ['only a cover image', file([{ ...videoStream, isCoverImage: true }]), {}, /no video or audio/],
    ['an unknown codec', file([{ ...videoStream, codec: 'unknown' }]), {}, /no video or audio/],
    ['video without a size', file([{ ...videoStream, width: 0 }]), {}, /no video or audio/],
    [
      'audio with video of an unknown codec',
      file([{ ...videoStream, codec: 'unknown' }, audioStream]),
      {},
      /format that cannot be decoded/,
    ],
    [
      'a resolution that takes gigabytes',
      file([{ ...videoStream, width: 16_000, height: 16_000 }]),
      {},
      /too high: 16000 x 16000/,
    ],
    [
      'an empty clip',
      file([videoStream]),
      { clip: { startMs: 1_000, endMs: 1_000 } },
      /ends before it begins/,
    ],
    ['no duration', file([videoStream], { durationSeconds: 0 }), {}, /duration of the file is zero/],
    ['a day', file([videoStream], { durationSeconds: 86_400 }), {}, /shorter than 1440 minutes/],
    [
      'a clip after the end',
      file([videoStream]),
      { clip: { startMs: 60_000, endMs: undefined } },
      /clip begins after the end/,
    ],
  ])('%s', (_, source, request, reason) => {
    const plan = planSource(source, request);
    expect(plan).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
    expect(plan).toEqual({ kind: 'refused', reason: expect.stringMatching(/^[A-Z].*\.$/) });
  });
});

describe('video passthrough', () => {
  test.each<[string, Partial<ProbedStream>, SourceRequest, boolean]>([
    ['H.264 High in 4:2:0', {}, {}, true],
    ['full range', { pixelFormat: 'yuvj420p' }, {}, true],
    ['HEVC', { codec: 'hevc' }, {}, false],
    ['ten bits', { profile: 'High 10', pixelFormat: 'yuv420p10le' }, {}, false],
    ['4:4:4', { profile: 'High 4:4:4 Predictive', pixelFormat: 'yuv444p' }, {}, false],
    ['interlaced', { fieldOrder: 'tt' }, {}, false],
    ['an unknown field order', { fieldOrder: 'unknown' }, {}, true],
    ['pixels that are not square', { pixelAspect: 4 / 3 }, {}, false],
    ['rotated', { rotation: 90 }, {}, false],
    ['mirrored', { isTransformed: true }, {}, false],
    ['100 frames a second', { averageFrameRate: 100 }, {}, false],
    ['60 frames a second', { averageFrameRate: 60 }, {}, true],
    ['more than a network takes', { bitsPerSecond: 17_000_000 }, {}, false],
    ['wider than decoders take', { width: 5000 }, {}, false],
    ['a clip of it', {}, { clip: { startMs: 0, endMs: 1_000 } }, false],
    ['with a watermark', {}, { hasWatermark: true }, false],
    ['where that has failed', {}, { canPassthroughVideo: false }, false],
  ])('%s', (_, values, request, isCarried) => {
    expect(planned([{ ...videoStream, ...values }, audioStream], request).video?.isPassthrough).toBe(
      isCarried,
    );
  });
});

describe('audio passthrough', () => {
  test.each<[string, Partial<ProbedStream>, SourceRequest, boolean]>([
    ['AAC LC', {}, {}, true],
    ['HE-AAC', { profile: 'HE-AAC' }, {}, true],
    ['AAC Main', { profile: 'Main' }, {}, false],
    ['MP3', { codec: 'mp3' }, {}, false],
    ['six channels', { channels: 6 }, {}, false],
    ['a clip of it', {}, { clip: { startMs: 0, endMs: 1_000 } }, false],
    ['where that has failed', {}, { canPassthroughAudio: false }, false],
  ])('%s', (_, values, request, isCarried) => {
    expect(planned([videoStream, { ...audioStream, ...values }], request).audio?.isPassthrough).toBe(
      isCarried,
    );
  });
});

describe('a source plan', () => {
  test('uses the default streams in any order, and never cover images', () => {
    const streams = [
      { ...videoStream, index: 0, isCoverImage: true },
      { ...videoStream, index: 1, isDefault: false },
      { ...videoStream, index: 2 },
      { ...audioStream, index: 3, isDefault: false },
      { ...audioStream, index: 4, isDefault: false },
    ];
    const { video, audio } = planned(streams);
    expect([video?.index, audio?.index]).toEqual([2, 3]);
  });

  test.each<[string, Partial<ProbedStream>, string]>([
    ['rotated', { rotation: 90 }, '720x1280 9/16'],
    ['upside down', { rotation: 180 }, '1280x720 16/9'],
    ['anamorphic', { width: 720, height: 576, pixelAspect: 64 / 45 }, '1024x576 16/9'],
    [
      'anamorphic and rotated',
      { width: 720, height: 576, pixelAspect: 64 / 45, rotation: 270 },
      '576x1024 9/16',
    ],
    ['rounded to even', { width: 854, height: 480 }, '854x480 16/9'],
    ['an odd shape', { width: 1000, height: 400 }, '1000x400 5/2'],
    ['an implausibly wide pixel aspect', { pixelAspect: 1000 }, '1280x720 16/9'],
    ['an implausibly narrow pixel aspect', { pixelAspect: 1 / 1000 }, '1280x720 16/9'],
  ])('has the display resolution: %s', (_, values, expected) => {
    const { width, height, aspectRatio } = planned([{ ...videoStream, ...values }]).sourceMetadata;
    expect(`${width}x${height} ${aspectRatio}`).toBe(expected);
  });

  test('has null for unknown metadata, and an unknown duration of 0', () => {
    const { durationSeconds: _, ...source } = file([videoStream]);
    expect(planSource(source, {})).toMatchObject({
      durationSeconds: 0,
      sourceMetadata: { duration: null, bitrate: null, samplerate: null, audioCodec: null },
    });
  });

  test.each([
    ['deu', 'deu'],
    ['pt-BR', 'pt-BR'],
    [undefined, undefined],
    ['not a language', undefined],
    ['x'.repeat(1_000), undefined],
  ])('has the language of the audio track: %s', (language, planned) => {
    const stream = language === undefined ? audioStream : { ...audioStream, language };
    expect(planSource(file([videoStream, stream]), {})).toMatchObject({ audio: { language: planned } });
  });

  test.each<[SourceRequest['clip'], number]>([
    [undefined, 60],
    [{ startMs: 10_000, endMs: undefined }, 50],
    [{ startMs: 10_000, endMs: 15_500 }, 5.5],
    [{ startMs: 10_000, endMs: 90_000 }, 50],
  ])('has the duration of the clip %j, in the metadata too', (clip, seconds) => {
    expect(planned([videoStream], { clip })).toMatchObject({
      durationSeconds: seconds,
      sourceMetadata: { duration: Math.round(seconds) },
    });
  });

  test.each<[string | undefined, string | undefined]>([
    ['smpte2084', 'smpte2084'],
    ['arib-std-b67', 'arib-std-b67'],
    ['bt709', undefined],
    [undefined, undefined],
  ])('maps HDR: %s', (colorTransfer, toneMapFrom) => {
    const stream = { ...videoStream, ...(colorTransfer === undefined ? {} : { colorTransfer }) };
    expect(planned([stream]).video?.toneMapFrom).toBe(toneMapFrom);
  });

  test.each<
    [string, SourceRequest, { startSeconds: number; durationSeconds: number | undefined } | undefined]
  >([
    ['the whole source', {}, undefined],
    ['a clip of the whole source', { clip: { startMs: 0, endMs: 60_000 } }, undefined],
    [
      'the rest',
      { clip: { startMs: 1_500, endMs: 99_000 } },
      { startSeconds: 1.5, durationSeconds: undefined },
    ],
    ['a piece', { clip: { startMs: 1_500, endMs: 3_000 } }, { startSeconds: 1.5, durationSeconds: 1.5 }],
    ['slightly more than is allowed', { maxSeconds: 59.6 }, undefined],
    ['the allowed length', { maxSeconds: 30 }, { startSeconds: 0, durationSeconds: 30 }],
    [
      'the allowed length of a clip',
      { maxSeconds: 30, clip: { startMs: 10_000, endMs: 50_000 } },
      { startSeconds: 10, durationSeconds: 30 },
    ],
  ])('has the delivered part: %s', (_, request, part) => {
    const plan = planned([videoStream, audioStream], request);
    expect(plan.part).toEqual(part);
    expect([plan.video?.isPassthrough, plan.audio?.isPassthrough]).toEqual([
      part === undefined,
      part === undefined,
    ]);
    const { durationSeconds: __, ...timeless } = file([videoStream, audioStream]);
    expect(planSource(timeless, { maxSeconds: 30 })).toMatchObject({
      part: { startSeconds: 0, durationSeconds: 30 },
      durationSeconds: 30,
      sourceMetadata: { duration: null },
    });
  });

  test.each<[string, Partial<ProbedStream>, string]>([
    [
      'stated by the file',
      { colorSpace: 'bt470bg', colorPrimaries: 'bt470bg', colorTransfer: 'bt709' },
      'bt470bg bt470bg bt709',
    ],
    ['unknown, HD', {}, 'bt709 bt709 bt709'],
    ['unknown, SD', { width: 640, height: 360 }, 'smpte170m smpte170m smpte170m'],
    ['unusual', { colorSpace: 'ycgco', colorTransfer: 'log100' }, 'bt709 bt709 bt709'],
    ['RGB', { pixelFormat: 'gbrp', colorSpace: 'gbr', width: 64, height: 64 }, 'bt709 bt709 bt709'],
  ])('describes colors: %s', (_, values, expected) => {
    const { matrix, primaries, transfer, isRgb } = planned([{ ...videoStream, ...values }]).video!.colour;
    expect(`${matrix} ${primaries} ${transfer}`).toBe(expected);
    expect(isRgb).toBe(values.pixelFormat === 'gbrp');
  });

  test('has the reason for encoding', () => {
    const { video, audio } = planned([
      { ...videoStream, codec: 'hevc' },
      { ...audioStream, channels: 6 },
    ]);
    expect([video?.reason, audio?.reason, audio?.channels]).toEqual(['codec hevc', '6 channels', 6]);
    expect(planned([videoStream]).video?.reason).toBeUndefined();
  });
});
