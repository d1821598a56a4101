import { describe, expect, test } from 'vitest';
import {
  allowedFormats,
  probeArguments,
  readProbeOutput,
} from '../../../../src/ffmpeg/probe/probe-output.ts';
import { AppError } from '../../../../src/shared/errors.ts';

const picture = { index: 0, codec_type: 'video', codec_name: 'h264', width: 320, height: 180 };

function read(streams: readonly object[], format: object = {}) {
  return readProbeOutput(JSON.stringify({ streams, format: { format_name: 'mov', ...format } }), 1000);
}

function refused(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
  return 'nothing';
}

describe('the arguments', () => {
  test('name no format that opens other files, addresses or devices', () => {
    for (const format of [
      'hls',
      'dash',
      'concat',
      'image2',
      'sdp',
      'rtsp',
      'rtp',
      'lavfi',
      'data',
      'ffmetadata',
      'tty',
      'srt',
    ]) {
      expect(allowedFormats).not.toContain(format);
    }
  });

  test('take any name for a file', () => {
    expect(probeArguments('/a/-i').at(-1)).toBe('file:/a/-i');
    expect(probeArguments('http://x/y').at(-1)).toMatch(/^file:\/.*http:/);
  });
});

describe('a stream', () => {
  test.each([
    ['side data of a quarter turn clockwise', { side_data_list: [{ rotation: -90 }] }, 90],
    ['side data among others', { side_data_list: [{}, { rotation: 90 }] }, 270],
    ['a half turn', { side_data_list: [{ rotation: -180 }] }, 180],
    ['a whole turn', { side_data_list: [{ rotation: 360 }] }, 0],
    ['nearly a quarter', { side_data_list: [{ rotation: -89.4 }] }, 90],
    ['the tag of old versions', { tags: { rotate: '270' } }, 270],
    ['both: side data', { tags: { rotate: '180' }, side_data_list: [{ rotation: -90 }] }, 90],
    ['no number', { tags: { rotate: 'left' }, side_data_list: [{ rotation: 'nan' }] }, 0],
    ['nothing', {}, 0],
  ])('is turned as told by %s', (_name, more, rotation) => {
    expect(read([{ ...picture, ...more }]).streams[0]!.rotation).toBe(rotation);
  });

  const matrix = (a: number, b: number, c: number, d: number) =>
    `\n00000000:  ${a}  ${b}  0\n00000001:  ${c}  ${d}  0\n00000002:  0  11796480  1073741824\n`;
  test.each([
    ['not at all', matrix(65536, 0, 0, 65536), 0, undefined],
    ['larger', matrix(131072, 0, 0, 131072), 0, undefined],
    ['a quarter', matrix(0, 65536, -65536, 0), -90, undefined],
    ['a half', matrix(-65536, 0, 0, -65536), -180, undefined],
    ['mirrored', matrix(-65536, 0, 0, 65536), -180, true],
    ['upside down', matrix(65536, 0, 0, -65536), 0, true],
    ['mirrored and a quarter', matrix(0, 65536, 65536, 0), -90, true],
    ['an eighth', matrix(46341, 46341, -46341, 46341), -45, true],
    ['no matrix', 'none', 0, undefined],
  ])('has a picture that is turned: %s', (_, displaymatrix, rotation, isTransformed) => {
    const [stream] = read([{ ...picture, side_data_list: [{ displaymatrix, rotation }] }]).streams;
    expect(stream!.isTransformed).toBe(isTransformed);
    expect(stream!.rotation).toBe(rotation === -45 ? 0 : Math.abs(rotation));
  });

  test.each([
    ['4:3', 4 / 3],
    ['0:1', 1],
    ['N/A', 1],
    ['1:0', 1],
    ['-1:1', 1],
    [undefined, 1],
  ])('with the pixel shape %s', (sample_aspect_ratio, pixelAspect) => {
    expect(read([{ ...picture, sample_aspect_ratio }]).streams[0]!.pixelAspect).toBe(pixelAspect);
  });

  test.each([
    ['30000/1001', 30_000 / 1001],
    ['0/0', undefined],
    ['90000/1', undefined],
    ['x', undefined],
  ])('with the frame rate %s', (avg_frame_rate, rate) => {
    expect(read([{ ...picture, avg_frame_rate }]).streams[0]!.averageFrameRate).toBe(rate);
  });

  test.each([
    ['H.264 by ffprobe 5', 'h264', '30/1', '30/1', 30],
    ['H.264 by ffprobe 7', 'h264', '25/1', '60/1', 30],
    ['H.264 whose fields are the assumed frames', 'h264', '25/1', '50/1', 25],
    ['H.264 with a clock for a frame rate', 'h264', '25/1', '2000/1', undefined],
    ['H.265 by ffprobe 7', 'hevc', '25/1', '60/1', 60],
    ['MPEG-2 by ffprobe 7', 'mpegvideo', '25/1', '30000/1001', 30_000 / 1001],
    ['a file with times', 'mov', '25/1', '60/1', 25],
  ])('with the frame rate that is stated: %s', (_, format_name, avg_frame_rate, r_frame_rate, rate) => {
    const [stream] = read([{ ...picture, avg_frame_rate, r_frame_rate }], { format_name }).streams;
    expect(stream!.averageFrameRate ?? stream!.baseFrameRate).toBe(rate);
  });

  test('has nothing of what ffprobe does not know', () => {
    const [stream] = read([
      {
        index: 3,
        codec_type: 'video',
        width: 0,
        height: -2,
        pix_fmt: 'unknown',
        duration: 'N/A',
        tags: { language: 'und' },
      },
    ]).streams;
    expect(stream).toEqual({
      index: 3,
      kind: 'video',
      codec: 'unknown',
      rotation: 0,
      pixelAspect: 1,
      isDefault: false,
      isCoverImage: false,
    });
  });

  test('that is neither picture nor sound is told of as other', () => {
    expect(read([{ index: 0, codec_type: 'data' }, { index: 1 }]).streams.map(stream => stream.kind)).toEqual(
      ['other', 'other'],
    );
  });
});

describe('the times of a file', () => {
  test('are those of its streams, without covers and texts', () => {
    const file = read(
      [
        { ...picture, start_time: '1.5', duration: '4' },
        { index: 1, codec_type: 'audio', start_time: '1', duration: '3' },
        { ...picture, index: 2, start_time: '0', duration: '90', disposition: { attached_pic: 1 } },
        { index: 3, codec_type: 'subtitle', start_time: '0', duration: '900' },
      ],
      { start_time: '0', duration: '900' },
    );
    expect(file).toMatchObject({ startSeconds: 1, durationSeconds: 4.5, bitsPerSecond: 1778, bytes: 1000 });
  });

  test('are those of the format where a stream has none', () => {
    const file = read(
      [
        { ...picture, duration: '4' },
        { index: 1, codec_type: 'audio' },
      ],
      { duration: '7' },
    );
    expect(file.durationSeconds).toBe(7);
  });

  test('are unknown where nothing says them', () => {
    expect(read([picture], { duration: 'N/A' })).not.toHaveProperty('durationSeconds');
    expect(read([picture], { duration: '0.000000' })).not.toHaveProperty('bitsPerSecond');
  });
});

test('a file without streams is refused, and an answer that is none is our fault', () => {
  expect(refused(() => read([]))).toBe('media-refused');
  expect(refused(() => readProbeOutput('{', 1))).toBe('process-failed');
  expect(refused(() => readProbeOutput('{}', 1))).toBe('process-failed');
  expect(refused(() => readProbeOutput('[null]', 1))).toBe('process-failed');
});
