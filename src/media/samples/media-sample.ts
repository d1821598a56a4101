import type { ColorInfo } from './color-info.ts';
import type { DeclaredMedia } from './declared-media.ts';

export type TrackKind = 'audio' | 'video';

/** Codes of MP4 and Enhanced RTMP. */
export type VideoFourCc = 'avc1' | 'hvc1' | 'av01' | 'vp08';
export type AudioFourCc = 'mp4a' | 'Opus' | 'ac-3' | 'ec-3' | 'fLaC' | '.mp3';

export interface Codec {
  /** Common name. */
  readonly name: string;
  /** Undefined for codecs that nothing but FLV has, and for unknown ones. */
  readonly fourCc: VideoFourCc | AudioFourCc | undefined;
}

export const codecs = {
  avc1: { name: 'H.264', fourCc: 'avc1' },
  hvc1: { name: 'HEVC', fourCc: 'hvc1' },
  av01: { name: 'AV1', fourCc: 'av01' },
  vp08: { name: 'VP8', fourCc: 'vp08' },
  mp4a: { name: 'AAC', fourCc: 'mp4a' },
  Opus: { name: 'Opus', fourCc: 'Opus' },
  'ac-3': { name: 'AC-3', fourCc: 'ac-3' },
  'ec-3': { name: 'E-AC-3', fourCc: 'ec-3' },
  fLaC: { name: 'FLAC', fourCc: 'fLaC' },
  '.mp3': { name: 'MP3', fourCc: '.mp3' },
} as const satisfies Readonly<Record<VideoFourCc | AudioFourCc, Codec>>;

interface TrackMedia {
  readonly kind: TrackKind;
  /** Number among the tracks of its kind, 0..255; 0 is the main one. */
  readonly trackId: number;
  readonly codec: Codec;
  /** Never written to again. */
  readonly data: Buffer;
  /** The FLV tag body that this came in, if it did. */
  readonly tagBody?: Buffer | undefined;
}

/**
 * A coded frame. Data of H.264 and HEVC: NAL units with the lengths that the configuration says. AV1: OBUs of a temporal
 * unit. AAC: a frame without ADTS. Opus: a packet.
 */
export interface MediaSample extends TrackMedia {
  readonly type: 'sample';
  /** Decode time at 90 kHz, on the publisher's clock: may jump, run backwards and wrap. */
  readonly dtsTicks: number;
  /** Presentation time, likewise. */
  readonly ptsTicks: number;
  /** Always false for audio. */
  readonly isKeyframe: boolean;
}

/**
 * Data: body of avcC, hvcC or av1C, the size of VP8, AudioSpecificConfig, OpusHead, or the STREAMINFO block with `fLaC`; empty
 * where the codec has none.
 */
export interface CodecConfig extends TrackMedia {
  readonly type: 'config';
}

export type MediaEvent =
  | MediaSample
  | CodecConfig
  | { readonly type: 'color'; readonly color: ColorInfo }
  | { readonly type: 'declared'; readonly media: DeclaredMedia };

export const ticksPerMs = 90;

/** Whole milliseconds, rounded down: RTMP has no more. */
export function timestampMs({ dtsTicks }: Pick<MediaSample, 'dtsTicks'>): number {
  return Math.floor(dtsTicks / ticksPerMs);
}

/** Whole milliseconds from decoding to presentation. */
export function compositionMs({ dtsTicks, ptsTicks }: Pick<MediaSample, 'dtsTicks' | 'ptsTicks'>): number {
  return Math.round((ptsTicks - dtsTicks) / ticksPerMs);
}

/** False for {@link AudioFourCc} and codecs without one. */
export function isVideoFourCc(fourCc: Codec['fourCc']): fourCc is VideoFourCc {
  return fourCc === 'avc1' || fourCc === 'hvc1' || fourCc === 'av01' || fourCc === 'vp08';
}
