import { describe, expect, test } from 'vitest';
import { readDeclaredMedia } from '../../../../src/media/flv/declared-media.ts';
import { encodeAmf0 } from '../../../support/amf0.ts';

const script = (values: Record<string, number | string | boolean>) =>
  encodeAmf0('onMetaData', new Map(Object.entries(values)));

test('what an encoder usually says', () => {
  const body = script({
    duration: 0,
    width: 1280,
    videodatarate: 2500,
    framerate: 29.97,
    videocodecid: 7,
    audiodatarate: 128,
    audiocodecid: 10,
    encoder: 'some encoder',
  });
  expect(readDeclaredMedia(body)).toEqual({
    hasAudio: true,
    hasVideo: true,
    bitsPerSecond: 2_628_000,
    framesPerSecond: 29.97,
    encoder: 'some encoder',
  });
});

test('the same behind @setDataFrame, and with codecs by name', () => {
  const body = Buffer.concat([
    encodeAmf0('@setDataFrame'),
    script({ videocodecid: 'avc1', videodatarate: 900 }),
  ]);
  expect(readDeclaredMedia(body)).toEqual({
    hasAudio: false,
    hasVideo: true,
    bitsPerSecond: 900_000,
    framesPerSecond: undefined,
  });
});

test('another message says nothing', () => {
  expect(readDeclaredMedia(encodeAmf0('onTextData', { text: 'hello' }))).toBeUndefined();
  expect(readDeclaredMedia(Buffer.alloc(0))).toBeUndefined();
});

describe('numbers that cannot be true are left out', () => {
  test.each([0, 0.5, 301, 1e300, Number.NaN, Number.POSITIVE_INFINITY, -30])('framerate %f', framerate => {
    expect(readDeclaredMedia(script({ framerate }))?.framesPerSecond).toBeUndefined();
  });

  test.each([0, -1, 1e12, Number.NaN, Number.POSITIVE_INFINITY])('videodatarate %f', videodatarate => {
    expect(readDeclaredMedia(script({ videodatarate }))?.bitsPerSecond).toBeUndefined();
  });

  test('text in place of a number, and a message that is cut off', () => {
    expect(readDeclaredMedia(script({ framerate: 'thirty' }))?.framesPerSecond).toBeUndefined();
    const whole = script({ framerate: 30 });
    for (let bytes = 0; bytes < whole.length; bytes += 1) {
      expect(() => readDeclaredMedia(whole.subarray(0, bytes))).not.toThrow();
    }
  });
});

test('audio tracks with a language or name, and others without', () => {
  const tracks = {
    '0': { language: 'eng' },
    '1': { title: 'Commentary', channels: 2 },
    '2': {},
    x: { name: 'no id' },
  };
  const body = encodeAmf0('onMetaData', { audiocodecid: 10, audioTrackIdInfoMap: tracks });
  expect(readDeclaredMedia(body)?.audioTracks).toEqual(
    new Map([
      [0, { language: 'eng', name: undefined }],
      [1, { language: undefined, name: 'Commentary' }],
      [2, { language: undefined, name: undefined }],
    ]),
  );
  expect(readDeclaredMedia(body.subarray(0, body.length - 30))).toMatchObject({ hasAudio: true });
});
