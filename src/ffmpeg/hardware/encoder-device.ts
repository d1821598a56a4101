import type { AdditionalCodec } from '../../shared/additional-codecs.ts';

/** Encoders in the order in which they are tried. */
export const hardwareEncoders = ['nvenc', 'qsv', 'vaapi', 'videotoolbox'] as const;

export type HardwareEncoder = (typeof hardwareEncoders)[number];

/** Undefined stands for x264 on the processor. */
export interface EncoderDevice {
  readonly encoder: HardwareEncoder;
  /** Device such as `/dev/dri/renderD128`, for VAAPI. */
  readonly path: string;
  /** Undefined: H.264. */
  readonly codec?: AdditionalCodec;
}

interface EncoderSpeed {
  /** No frame waits for another. */
  readonly isLive: boolean;
  readonly bitsPerSecond: number;
  readonly bufferBits: number;
}

/** Average bitrate as a share of the maximum, for encoders without a constant quality that respects a maximum. */
const averageShare = 0.75;

/** Options before the inputs. */
export function deviceOptions(device: EncoderDevice | undefined): string[] {
  return device?.encoder === 'vaapi'
    ? ['-init_hw_device', `vaapi=gpu:${device.path}`, '-filter_hw_device', 'gpu']
    : [];
}

/** The end of a filter chain. Decoding, scaling and overlays stay on the processor. */
export function encoderInput(device: EncoderDevice | undefined): string {
  if (device === undefined) return 'format=yuv420p';
  return device.encoder === 'vaapi' ? 'format=nv12,hwupload' : 'format=nv12';
}

/** AV1 has one profile for 4:2:0, which the encoders choose themselves. */
const codecOptions = {
  h264: ['-profile:v', 'high'],
  hevc: ['-profile:v', 'main', '-tag:v', 'hvc1'],
  av1: [],
} as const;

/**
 * Video without B-frames, with an IDR frame wherever a keyframe is forced and nowhere else.
 * **Source**: `ffmpeg -h encoder=NAME`; trac.ffmpeg.org/wiki/HWAccelIntro.
 */
export function hardwareOptions(device: EncoderDevice, speed: EncoderSpeed): string[] {
  const { encoder } = device;
  const codec = device.codec ?? 'h264';
  const { bitsPerSecond, bufferBits } = speed;
  const average = ['-b:v', String(Math.round(averageShare * bitsPerSecond))];
  return [
    ...['-c:v', `${codec}_${encoder}`, ...codecOptions[codec], '-bf', '0'],
    ...{
      nvenc: nvencOptions(speed),
      qsv: [...average, '-preset', 'veryfast', '-forced_idr', '1', '-async_depth', speed.isLive ? '1' : '4'],
      vaapi: [...average, '-rc_mode', 'VBR', '-async_depth', speed.isLive ? '1' : '2'],
      videotoolbox: [...average, '-realtime', speed.isLive ? '1' : '0'],
    }[encoder],
    ...['-maxrate', String(bitsPerSecond), '-bufsize', String(bufferBits)],
  ];
}

function nvencOptions({ isLive }: EncoderSpeed): string[] {
  return [
    ...['-preset', 'p4', '-rc', 'vbr', '-cq', '23', '-b:v', '0', '-forced-idr', '1', '-no-scenecut', '1'],
    ...(isLive ? ['-tune', 'ull', '-zerolatency', '1', '-delay', '0'] : ['-tune', 'hq', '-spatial-aq', '1']),
  ];
}
