import { expect, test } from 'vitest';
import { encodeCommand } from '../../../../src/ffmpeg/arguments/encode-command.ts';
import { liveEncodeArguments } from '../../../../src/ffmpeg/arguments/live-encode-arguments.ts';
import { type HardwareEncoder, hardwareEncoders } from '../../../../src/ffmpeg/hardware/encoder-device.ts';
import type { AdditionalCodec } from '../../../../src/shared/additional-codecs.ts';
import { argumentsOf } from '../../../support/ffmpeg-command.ts';

const size = { width: 640, height: 360 };
const renditions = [{ name: '360p', ...size, bitsPerSecond: 800_000, fromSeconds: 0 }];
const deviceOf = (encoder: HardwareEncoder) => ({ encoder, path: '/dev/dri/renderD129' });

function liveArguments(encoder: HardwareEncoder): string[] {
  return liveEncodeArguments({
    ...size,
    renditions,
    overlay: undefined,
    frameDivisor: 1,
    threads: 2,
    maxPixels: 1_000_000,
    device: deviceOf(encoder),
  });
}

function videoArguments(encoder: HardwareEncoder, codec?: AdditionalCodec): string[] {
  return argumentsOf(
    encodeCommand({
      source: '/media/source',
      folder: '/media/hls-1',
      video: {
        index: 0,
        ...size,
        isInterlaced: false,
        toneMapFrom: undefined,
        isTooFast: false,
        framesPerSecond: 30,
        renditions,
        keyframesAtSeconds: 'every-two',
        overlays: [],
      },
      audio: [],
      timedBy: [0],
      clip: undefined,
      preset: 'veryfast',
      threads: 2,
      codec,
      device: { ...deviceOf(encoder), ...(codec === undefined ? {} : { codec }) },
    }),
  );
}

const optionOf = (args: readonly string[], option: string) => args[args.indexOf(option) + 1];

test.each(hardwareEncoders)('%s keeps the keyframes and the bitrate limit of each rendition', encoder => {
  for (const args of [liveArguments(encoder), videoArguments(encoder)]) {
    expect(optionOf(args, '-c:v')).toBe(`h264_${encoder}`);
    expect(optionOf(args, '-maxrate')).toBe('800000');
    expect(optionOf(args, '-bf')).toBe('0');
    expect(args).toContain('-force_key_frames');
    expect(args).not.toContain('-crf');
    expect(args).not.toContain('-sc_threshold');
  }
  expect(optionOf(liveArguments(encoder), '-bufsize')).toBe('800000');
  expect(optionOf(videoArguments(encoder), '-bufsize')).toBe('1600000');
});

test('only VAAPI uploads frames to its device', () => {
  for (const encoder of hardwareEncoders) {
    for (const args of [liveArguments(encoder), videoArguments(encoder)]) {
      const graph = optionOf(args, '-filter_complex')!;
      expect(graph.includes('format=nv12,hwupload')).toBe(encoder === 'vaapi');
      expect(args.includes('vaapi=gpu:/dev/dri/renderD129')).toBe(encoder === 'vaapi');
    }
  }
});

test('NVENC and Quick Sync make every forced keyframe an IDR frame', () => {
  expect(optionOf(liveArguments('nvenc'), '-forced-idr')).toBe('1');
  expect(optionOf(liveArguments('qsv'), '-forced_idr')).toBe('1');
});

test.each(hardwareEncoders)('%s encodes HEVC and AV1 for videos', encoder => {
  const hevc = videoArguments(encoder, 'hevc');
  expect([optionOf(hevc, '-c:v'), optionOf(hevc, '-tag:v')]).toEqual([`hevc_${encoder}`, 'hvc1']);
  const av1 = videoArguments(encoder, 'av1');
  expect(optionOf(av1, '-c:v')).toBe(`av1_${encoder}`);
  expect(av1).not.toContain('-profile:v');
  for (const args of [hevc, av1]) expect(optionOf(args, '-maxrate')).toBe('800000');
});
