import { describe, expect, test } from 'vitest';
import type { ProbedStream } from '../../../../src/ffmpeg/media-tools.ts';
import {
  audioRenditionName,
  isLeftOut,
  parseAudioRenditionName,
} from '../../../../src/shared/audio-rendition.ts';
import { iso639Code } from '../../../../src/shared/text/iso-639.ts';
import { trackTitle } from '../../../../src/shared/text/track-title.ts';
import { audioStreamsOf, planAudio, sourceAudioTracks } from '../../../../src/vod/source/audio-plan.ts';

function stream(index: number, values: Partial<ProbedStream> = {}): ProbedStream {
  return {
    index,
    kind: 'audio',
    codec: 'aac',
    profile: 'LC',
    sampleRate: 48_000,
    channels: 2,
    isDefault: false,
    isCoverImage: false,
    ...values,
  } as ProbedStream;
}

const whole = { video: undefined, request: {}, isWhole: true, durationSeconds: 10 };

describe('two mono tracks', () => {
  const mono = { kind: 'audio', codec: 'aac', isDefault: false, isCoverImage: false } as const;
  const side = (index: number, values: Partial<ProbedStream> = {}): ProbedStream => ({
    ...mono,
    index,
    sampleRate: 48_000,
    channels: 1,
    startSeconds: 0,
    durationSeconds: 10,
    ...values,
  });
  const countOf = (...streams: ProbedStream[]) => audioStreamsOf(streams, true).length;

  test.each<[string, Partial<ProbedStream>, Partial<ProbedStream>]>([
    ['nothing', {}, {}],
    ['the same language', { language: 'eng' }, { language: 'eng' }],
    ['sides', { title: 'Left' }, { title: 'Right' }],
    ['numbers', { title: 'Audio Channel 1' }, { title: 'Audio Channel 2' }],
    ['letters', { title: 'Mono L' }, { title: 'Mono R' }],
    ['a little less at the end', {}, { durationSeconds: 9.9 }],
    ['the second as the default', {}, { isDefault: true }],
  ])('are the sides of one with %s', (_, left, right) => {
    expect(audioStreamsOf([side(1, left), side(2, right)], true)).toMatchObject([
      { index: 1, rightIndex: 2, channels: 2 },
    ]);
    expect(audioStreamsOf([side(1, left), side(2, right)])).toHaveLength(2);
  });

  test.each<[string, Partial<ProbedStream>]>([
    ['another language', { language: 'fre' }],
    ['a name', { title: 'Commentary' }],
    ['a language as its name', { title: 'Français' }],
    ['a description', { isForVisuallyImpaired: true }],
    ['a comment', { isCommentary: true }],
    ['stereo', { channels: 2 }],
    ['another codec', { codec: 'ac3' }],
    ['another sample rate', { sampleRate: 44_100 }],
    ['a later start', { startSeconds: 1 }],
    ['an earlier end', { durationSeconds: 5 }],
    ['a long name', { title: `${'-'.repeat(39)}x` }],
  ])('are two when one has %s', (_, values) => {
    expect(countOf(side(1), side(2, values))).toBe(2);
  });

  test.each([
    ['Right', 'Left'],
    ['ch_R', 'ch_L'],
    ['Mono R', 'left channel'],
  ])('are in the order that their names tell: %s, %s', (first, second) => {
    const streams = [side(1, { title: first }), side(2, { title: second })];
    expect(audioStreamsOf(streams, true)).toMatchObject([{ index: 2, rightIndex: 1, channels: 2 }]);
  });

  test('are not sides beside others', () => {
    expect(countOf(side(1), side(2), side(3))).toBe(3);
    expect(countOf(side(1))).toBe(1);
    expect(countOf(side(1), side(2), side(3), side(4, { channels: 2 }))).toBe(4);
  });

  test('are joined in pairs where there are more', () => {
    const titled = (title: string, index: number) => side(index, { title });
    const four = ['Mono 1', 'Mono 2', 'Mono R', 'Mono L'].map(titled);
    four[2] = side(2, { title: 'Mono R', isDefault: true });
    expect(audioStreamsOf(four, true)).toMatchObject([
      { index: 3, rightIndex: 2, channels: 2 },
      { index: 0, rightIndex: 1, channels: 2 },
    ]);
    expect(countOf(...Array.from({ length: 8 }, (_, index) => side(index)))).toBe(4);
    expect(countOf(...Array.from({ length: 4 }, (_, index) => side(index, { language: `l${index}` })))).toBe(
      4,
    );
  });

  test('are filled up with silence to the end of the longer one', () => {
    const untilOf = (left: number, right: number, video = 10, start = 0) => {
      const values = { startSeconds: start };
      const sides = [
        side(1, { ...values, durationSeconds: left }),
        side(2, { ...values, durationSeconds: right }),
      ];
      const film = { ...stream(0), ...values, durationSeconds: video };
      return planAudio(audioStreamsOf(sides, true), { ...whole, video: film })[0]?.untilSeconds;
    };
    expect([untilOf(10, 9.7), untilOf(9.7, 10), untilOf(9.7, 10, 10, 3)]).toEqual([10, 10, 10]);
    expect(untilOf(9, 9.3)).toBe(10);
    const part = { ...whole, isWhole: false, durationSeconds: 4 };
    expect(planAudio(audioStreamsOf([side(1), side(2)], true), part)).toMatchObject([{ untilSeconds: 4 }]);
    const unknown = [1, 0].map(index => side(index, { durationSeconds: undefined }));
    expect(audioStreamsOf(unknown, true)).toMatchObject([{ rightIndex: 0 }]);
    expect(planAudio(audioStreamsOf(unknown, true), whole)).toMatchObject([{ untilSeconds: 10 }]);
  });

  test('are those called left and right, whatever their starts, ends and sample rates are', () => {
    const left = { title: 'Left', startSeconds: 2 };
    const right = { title: 'Right', sampleRate: 44_100, durationSeconds: 3 };
    const center = side(3, { title: 'Center' });
    expect(audioStreamsOf([side(1, right), side(2, left), center], true)).toMatchObject([
      { index: 2, rightIndex: 1, channels: 2 },
      { index: 3, channels: 1 },
    ]);
    const french = side(2, { ...left, language: 'fre' });
    expect(countOf(side(1, right), french, center)).toBe(3);
    expect(countOf(side(1, right), side(2, left), side(3, left))).toBe(3);
  });
});

describe('the audio tracks of a source', () => {
  test('begin with the default one, and are at most sixteen', () => {
    const streams = Array.from({ length: 40 }, (_, index) => stream(index, { isDefault: index === 7 }));
    const indexes = audioStreamsOf(streams).map(({ index }) => index);
    expect(indexes).toEqual([7, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15]);
    expect(planAudio(audioStreamsOf(streams), whole).at(-1)?.name).toBe('audio16');
  });

  test('leave out what cannot be decoded', () => {
    const streams = [stream(0, { codec: 'unknown' }), stream(1), stream(2, { kind: 'video' })];
    expect(audioStreamsOf(streams).map(({ index }) => index)).toEqual([1]);
  });

  test('have 5.1 as a rendition of its own, which AAC passes through', () => {
    const streams = [stream(1, { channels: 6 }), stream(2), stream(3, { codec: 'ac3', channels: 8 })];
    expect(
      planAudio(streams, whole).map(({ name, index, isPassthrough, isSurround }) => [
        ...[name, index, isPassthrough, isSurround],
      ]),
    ).toEqual([
      ['audio', 1, false, false],
      ['audio2', 2, true, false],
      ['audio3', 3, false, false],
      ['surround', 1, true, true],
      ['surround3', 3, false, true],
    ]);
  });

  test('keep languages and titles that playlists can hold', () => {
    const streams = [
      stream(0, { language: 'ger', title: 'Regie "Cut"\u0000\n  2' }),
      stream(1, { language: '!!', title: ' ', isForVisuallyImpaired: true }),
    ];
    expect(sourceAudioTracks(streams)).toEqual([
      ...[
        { track: 1, language: 'ger', name: 'Regie ”Cut” 2', codec: 'aac', channels: 2, isDescription: false },
      ],
      ...[{ track: 2, language: undefined, name: undefined, codec: 'aac', channels: 2, isDescription: true }],
    ]);
  });
});

test('names of audio renditions are read back', () => {
  for (const track of [1, 2, 9, 10, 16]) {
    for (const isSurround of [false, true]) {
      const name = audioRenditionName({ track, isSurround });
      expect(parseAudioRenditionName(name)).toEqual({ track, isSurround });
    }
  }
  for (const name of ['audio1', 'audio0', 'audio17', 'surround02', '720p', '']) {
    expect(parseAudioRenditionName(name)).toBeUndefined();
  }
});

test('only further audio that failed is left out', () => {
  expect(isLeftOut({ type: 'audio', quality: 'audio2', status: 'failed' })).toBe(true);
  for (const change of [{ quality: 'audio' }, { status: 'waiting' }, { type: 'hls', quality: '240p' }]) {
    expect(isLeftOut({ type: 'audio', quality: 'audio2', status: 'failed', ...change })).toBe(false);
  }
});

test('a title is bounded and well-formed', () => {
  expect(trackTitle('x'.repeat(5000))).toHaveLength(100);
  expect(trackTitle(`${'x'.repeat(99)}\u{1f600}`)?.isWellFormed()).toBe(true);
  expect(trackTitle('\u0007')).toBeUndefined();
});

test('languages get the three letters of MP4 files', () => {
  expect(['de', 'zh-Hant-TW', 'fil', 'en-US', 'xx', undefined].map(iso639Code)).toEqual([
    ...['deu', 'zho', 'fil', 'eng', undefined, undefined],
  ]);
});
