import { describe, expect, test } from 'vitest';
import type { ProbedFile, ProbedStream } from '../../../../src/ffmpeg/media-tools.ts';
import { planSource, type SourceRequest } from '../../../../src/vod/source/source-plan.ts';

const picture: ProbedStream = {
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
const sound: ProbedStream = {
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
  wishes: SourceRequest = {},
  values: Partial<ProbedFile> = {},
) {
  const plan = planSource(file(streams, values), wishes);
  if (plan.kind === 'refused') throw new Error(plan.reason);
  return plan;
}

describe('what is refused, with a sentence', () => {
  test.each<[string, ProbedFile, SourceRequest, RegExp]>([
    ['no streams', file([]), {}, /neither a picture nor sound/],
    ['only a cover image', file([{ ...picture, isCoverImage: true }]), {}, /image|picture/],
    ['codecs that nobody knows', file([{ ...picture, codec: 'unknown' }]), {}, /picture/],
    ['a picture without size', file([{ ...picture, width: 0 }]), {}, /picture/],
    [
      'sound with a picture that nobody can decode',
      file([{ ...picture, codec: 'unknown' }, sound]),
      {},
      /format that cannot be decoded/,
    ],
    [
      'a picture that takes gigabytes',
      file([{ ...picture, width: 16_000, height: 16_000 }]),
      {},
      /too large: 16000 x 16000/,
    ],
    [
      'a clip without length',
      file([picture]),
      { clip: { startMs: 1_000, endMs: 1_000 } },
      /ends before it begins/,
    ],
    ['no length', file([picture], { durationSeconds: 0 }), {}, /no length|no frames/],
    ['a day', file([picture], { durationSeconds: 86_400 }), {}, /shorter than 1440 minutes/],
    [
      'a clip behind the end',
      file([picture]),
      { clip: { startMs: 60_000, endMs: undefined } },
      /clip begins after the end/,
    ],
  ])('%s', (_, source, wishes, reason) => {
    const plan = planSource(source, wishes);
    expect(plan).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
    expect(plan).toEqual({ kind: 'refused', reason: expect.stringMatching(/^[A-Z].*\.$/) });
  });
});

describe('which picture is delivered as it is', () => {
  test.each<[string, Partial<ProbedStream>, SourceRequest, boolean]>([
    ['H.264 High in 4:2:0', {}, {}, true],
    ['full range', { pixelFormat: 'yuvj420p' }, {}, true],
    ['HEVC', { codec: 'hevc' }, {}, false],
    ['ten bits', { profile: 'High 10', pixelFormat: 'yuv420p10le' }, {}, false],
    ['4:4:4', { profile: 'High 4:4:4 Predictive', pixelFormat: 'yuv444p' }, {}, false],
    ['interlaced', { fieldOrder: 'tt' }, {}, false],
    ['an unknown field order', { fieldOrder: 'unknown' }, {}, true],
    ['pixels that are not square', { pixelAspect: 4 / 3 }, {}, false],
    ['turned', { rotation: 90 }, {}, false],
    ['100 frames a second', { averageFrameRate: 100 }, {}, false],
    ['60 frames a second', { averageFrameRate: 60 }, {}, true],
    ['more than a network takes', { bitsPerSecond: 17_000_000 }, {}, false],
    ['wider than decoders take', { width: 5000 }, {}, false],
    ['a clip of it', {}, { clip: { startMs: 0, endMs: 1_000 } }, false],
    ['with a watermark', {}, { hasWatermark: true }, false],
    ['where that has failed', {}, { canPassthroughVideo: false }, false],
  ])('%s', (_, values, wishes, isCarried) => {
    expect(planned([{ ...picture, ...values }, sound], wishes).video?.isPassthrough).toBe(isCarried);
  });
});

describe('which sound is delivered as it is', () => {
  test.each<[string, Partial<ProbedStream>, SourceRequest, boolean]>([
    ['AAC LC', {}, {}, true],
    ['HE-AAC', { profile: 'HE-AAC' }, {}, true],
    ['AAC Main', { profile: 'Main' }, {}, false],
    ['MP3', { codec: 'mp3' }, {}, false],
    ['six channels', { channels: 6 }, {}, false],
    ['a clip of it', {}, { clip: { startMs: 0, endMs: 1_000 } }, false],
    ['where that has failed', {}, { canPassthroughAudio: false }, false],
  ])('%s', (_, values, wishes, isCarried) => {
    expect(planned([picture, { ...sound, ...values }], wishes).audio?.isPassthrough).toBe(isCarried);
  });
});

describe('what is said of a source', () => {
  test('the default streams are taken, whatever their order, and covers never', () => {
    const streams = [
      { ...picture, index: 0, isCoverImage: true },
      { ...picture, index: 1, isDefault: false },
      { ...picture, index: 2 },
      { ...sound, index: 3, isDefault: false },
      { ...sound, index: 4, isDefault: false },
    ];
    const { video, audio } = planned(streams);
    expect([video?.index, audio?.index]).toEqual([2, 3]);
  });

  test.each<[string, Partial<ProbedStream>, string]>([
    ['turned', { rotation: 90 }, '720x1280 9/16'],
    ['upside down', { rotation: 180 }, '1280x720 16/9'],
    ['anamorphic', { width: 720, height: 576, pixelAspect: 64 / 45 }, '1024x576 16/9'],
    [
      'anamorphic and turned',
      { width: 720, height: 576, pixelAspect: 64 / 45, rotation: 270 },
      '576x1024 9/16',
    ],
    ['rounded to even', { width: 854, height: 480 }, '854x480 16/9'],
    ['an odd shape', { width: 1000, height: 400 }, '1000x400 5/2'],
    ['pixels of a shape that none has', { pixelAspect: 1000 }, '1280x720 16/9'],
    ['lines instead of pixels', { pixelAspect: 1 / 1000 }, '1280x720 16/9'],
  ])('the picture as it is shown: %s', (_, values, expected) => {
    const { width, height, aspectRatio } = planned([{ ...picture, ...values }]).facts;
    expect(`${width}x${height} ${aspectRatio}`).toBe(expected);
  });

  test('facts that the file does not tell are null, and its length 0', () => {
    const { durationSeconds: _, ...source } = file([picture]);
    expect(planSource(source, {})).toMatchObject({
      durationSeconds: 0,
      facts: { duration: null, bitrate: null, samplerate: null, audioCodec: null },
    });
  });

  test.each([
    ['deu', 'deu'],
    ['pt-BR', 'pt-BR'],
    [undefined, undefined],
    ['not a language', undefined],
    ['x'.repeat(1_000), undefined],
  ])('the audio has the language of its track: %s', (language, planned) => {
    const stream = language === undefined ? sound : { ...sound, language };
    expect(planSource(file([picture, stream]), {})).toMatchObject({ audio: { language: planned } });
  });

  test.each<[SourceRequest['clip'], number]>([
    [undefined, 60],
    [{ startMs: 10_000, endMs: undefined }, 50],
    [{ startMs: 10_000, endMs: 15_500 }, 5.5],
    [{ startMs: 10_000, endMs: 90_000 }, 50],
  ])('the length is that of the clip %j, in the status too', (clip, seconds) => {
    expect(planned([picture], { clip })).toMatchObject({
      durationSeconds: seconds,
      facts: { duration: Math.round(seconds) },
    });
  });

  test.each<[string | undefined, string | undefined]>([
    ['smpte2084', 'smpte2084'],
    ['arib-std-b67', 'arib-std-b67'],
    ['bt709', undefined],
    [undefined, undefined],
  ])('a high dynamic range is mapped: %s', (colorTransfer, toneMapFrom) => {
    const stream = { ...picture, ...(colorTransfer === undefined ? {} : { colorTransfer }) };
    expect(planned([stream]).video?.toneMapFrom).toBe(toneMapFrom);
  });

  test.each<
    [string, SourceRequest, { startSeconds: number; durationSeconds: number | undefined } | undefined]
  >([
    ['all', {}, undefined],
    ['a clip of all', { clip: { startMs: 0, endMs: 60_000 } }, undefined],
    [
      'the rest',
      { clip: { startMs: 1_500, endMs: 99_000 } },
      { startSeconds: 1.5, durationSeconds: undefined },
    ],
    ['a piece', { clip: { startMs: 1_500, endMs: 3_000 } }, { startSeconds: 1.5, durationSeconds: 1.5 }],
    ['a bit more than is allowed', { maxSeconds: 59.6 }, undefined],
    ['what is allowed', { maxSeconds: 30 }, { startSeconds: 0, durationSeconds: 30 }],
    [
      'what is allowed of a clip',
      { maxSeconds: 30, clip: { startMs: 10_000, endMs: 50_000 } },
      { startSeconds: 10, durationSeconds: 30 },
    ],
  ])('the part that is delivered: %s', (_, wishes, part) => {
    const plan = planned([picture, sound], wishes);
    expect(plan.part).toEqual(part);
    expect([plan.video?.isPassthrough, plan.audio?.isPassthrough]).toEqual([
      part === undefined,
      part === undefined,
    ]);
    const { durationSeconds: __, ...timeless } = file([picture, sound]);
    expect(planSource(timeless, { maxSeconds: 30 })).toMatchObject({
      part: { startSeconds: 0, durationSeconds: 30 },
      durationSeconds: 30,
      facts: { duration: null },
    });
  });

  test.each<[string, Partial<ProbedStream>, string]>([
    [
      'as it says',
      { colorSpace: 'bt470bg', colorPrimaries: 'bt470bg', colorTransfer: 'bt709' },
      'bt470bg bt470bg bt709',
    ],
    ['HD that says nothing', {}, 'bt709 bt709 bt709'],
    ['SD that says nothing', { width: 640, height: 360 }, 'smpte170m smpte170m smpte170m'],
    ['what no player knows', { colorSpace: 'ycgco', colorTransfer: 'log100' }, 'bt709 bt709 bt709'],
    [
      'red, green and blue',
      { pixelFormat: 'gbrp', colorSpace: 'gbr', width: 64, height: 64 },
      'bt709 bt709 bt709',
    ],
  ])('colours: %s', (_, values, expected) => {
    const { matrix, primaries, transfer, isRgb } = planned([{ ...picture, ...values }]).video!.colour;
    expect(`${matrix} ${primaries} ${transfer}`).toBe(expected);
    expect(isRgb).toBe(values.pixelFormat === 'gbrp');
  });

  test('why a track is not delivered as it is', () => {
    const { video, audio } = planned([
      { ...picture, codec: 'hevc' },
      { ...sound, channels: 6 },
    ]);
    expect([video?.reason, audio?.reason, audio?.channels]).toEqual(['codec hevc', '6 channels', 6]);
    expect(planned([picture]).video?.reason).toBeUndefined();
  });
});
