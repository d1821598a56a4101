import { t } from '../../../texts/overview.ts';

interface VideoPreset {
  readonly height: number;
  readonly width: number;
  readonly maxBitsPerSecond: number;
}

export const videoPresets = {
  '1080p': { width: 1920, height: 1080, maxBitsPerSecond: 4_500_000 },
  '720p': { width: 1280, height: 720, maxBitsPerSecond: 2_500_000 },
  '480p': { width: 854, height: 480, maxBitsPerSecond: 1_200_000 },
} as const satisfies Record<string, VideoPreset>;

export type PresetName = keyof typeof videoPresets;

export const framesPerSecond = 30;

/** Undefined if this browser can go live from this page. */
export function studioProblem(): string | undefined {
  if (!isSecureContext || navigator.mediaDevices === undefined) {
    return t('capture.needsHttps');
  }
  if (videoCodec() === undefined) {
    return t('capture.noWebRtc');
  }
  return undefined;
}

const videoCodecs = ['h264', 'av1', 'vp8'] as const;

export type VideoCodec = (typeof videoCodecs)[number];

/**
 * All viewers can play H.264, which Firefox has only with the OpenH264 plug-in: not every system offers that. The server
 * encodes VP8 for viewers.
 */
export function videoCodec(): VideoCodec | undefined {
  const codecs = globalThis.RTCRtpSender?.getCapabilities?.('video')?.codecs ?? [];
  const names = codecs.map(({ mimeType }) => mimeType.toLowerCase());
  return videoCodecs.find(codec => names.includes(`video/${codec}`));
}

/** @param deviceId `''` lets the browser choose */
export async function openCamera(deviceId: string, preset: VideoPreset): Promise<MediaStreamTrack> {
  const { width, height } = preset;
  const media = await navigator.mediaDevices.getUserMedia({
    video: {
      ...(deviceId === '' ? { facingMode: 'user' } : { deviceId: { exact: deviceId } }),
      width: { ideal: width },
      height: { ideal: height },
      frameRate: { ideal: framesPerSecond, max: framesPerSecond },
    },
  });
  return prepared(media.getVideoTracks()[0]!, 'motion');
}

/** @param deviceId `''` lets the browser choose */
export async function openMicrophone(deviceId: string): Promise<MediaStreamTrack> {
  const audio = deviceId === '' ? true : { deviceId: { exact: deviceId } };
  const media = await navigator.mediaDevices.getUserMedia({ audio });
  return media.getAudioTracks()[0]!;
}

interface ScreenTracks {
  readonly video: MediaStreamTrack;
  /** Undefined if the browser cannot share it, or the user did not. */
  readonly audio: MediaStreamTrack | undefined;
}

/** The browser asks which screen, window or tab. */
export async function openScreen({ width, height }: VideoPreset): Promise<ScreenTracks> {
  const media = await navigator.mediaDevices.getDisplayMedia({
    video: { width: { max: width }, height: { max: height }, frameRate: { max: framesPerSecond } },
    audio: true,
  });
  return { video: prepared(media.getVideoTracks()[0]!, 'detail'), audio: media.getAudioTracks()[0] };
}

export function canShareScreen(): boolean {
  return 'getDisplayMedia' in (navigator.mediaDevices ?? {});
}

/** Cameras that point away from the user would show mirrored text. */
export function isMirrored(track: MediaStreamTrack): boolean {
  const { facingMode, displaySurface } = track.getSettings();
  return displaySurface === undefined && facingMode !== 'environment';
}

export type CaptureSource = 'camera' | 'microphone' | 'screen';

/** Undefined if the user closed the browser's own choice of a screen. */
export function captureProblem(error: unknown, source: CaptureSource): string | undefined {
  const name = error instanceof Error ? error.name : '';
  switch (name) {
    case 'NotAllowedError':
      return source === 'screen' ? undefined : t('capture.notAllowed', { source });
    case 'NotFoundError':
      return t('capture.notFound', { source });
    case 'OverconstrainedError':
      return t('capture.disconnected', { source });
    case 'NotReadableError':
    case 'AbortError':
      return t('capture.inUse', { source });
    default:
      return t('capture.failed', { source, reason: error instanceof Error ? error.message : String(error) });
  }
}

function prepared(track: MediaStreamTrack, contentHint: 'motion' | 'detail'): MediaStreamTrack {
  track.contentHint = contentHint;
  return track;
}
