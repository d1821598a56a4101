import { type AdditionalCodec, additionalCodecs } from '../../shared/additional-codecs.ts';
import { parseAudioRenditionName } from '../../shared/audio-rendition.ts';
import { qualities } from '../../shared/qualities.ts';
import type { CodecRenditionName } from '../encoding-repository.ts';
import type { OpenRendition, RenditionMetadata } from '../index/rendition.ts';
import type { GrowingVideo } from './growing-videos.ts';

/** Lets the multivariant playlist be written without opening the index. */
export interface RenditionRecord {
  /** Part of segment names. Changes when a quality is encoded again. */
  readonly generation: number;
  readonly kind: 'video' | 'audio';
  readonly codec: string;
  readonly width?: number;
  readonly height?: number;
  readonly frameRate?: number;
  readonly videoRange?: 'SDR' | 'HLG' | 'PQ';
  readonly channels?: number;
  readonly language?: string;
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
  readonly durationSeconds: number;
  /** End from the first presented instant of the source. Missing in records of older versions. */
  readonly endSeconds?: number;
  /** Index in the file that is passed through. Missing where it is the default track. */
  readonly stream?: number;
}

export interface PlayableRendition {
  readonly name: string;
  /** Undefined: H.264. */
  readonly codec?: AdditionalCodec;
  readonly record: RenditionRecord;
}

export function isRenditionName(name: string): boolean {
  return (
    qualities.some(
      quality =>
        quality === name || additionalCodecs.some(codec => codecRenditionName({ codec, quality }) === name),
    ) || parseAudioRenditionName(name) !== undefined
  );
}

/** Names a rendition in playlists and addresses, such as `av1-720p`. */
export function codecRenditionName({ codec, quality }: CodecRenditionName): string {
  return `${codec}-${quality}`;
}

export function recordOf(
  rendition: OpenRendition,
  generation: number,
  targetDurationSeconds: number,
): RenditionRecord {
  const { peakBitsPerSecond, averageBitsPerSecond } = rendition.bitRates(targetDurationSeconds);
  const durationSeconds = rendition.renditionMetadata.durationTicks / rendition.renditionMetadata.timescale;
  return {
    generation,
    ...describe(rendition.renditionMetadata),
    // Players compute the peak from EXTINF values, which are rounded to five decimals.
    peakBitsPerSecond: Math.ceil(peakBitsPerSecond * 1.0005),
    averageBitsPerSecond,
    durationSeconds,
    endSeconds: durationSeconds + (rendition.segmentCount === 0 ? 0 : rendition.startSeconds(0)),
  };
}

export function recordOfGrowing(rendition: OpenRendition, video: GrowingVideo): RenditionRecord {
  return recordOf(rendition, video.generation, video.targetDurationSeconds);
}

export function targetDurationOf(renditions: readonly (RenditionMetadata | undefined)[]): number {
  return Math.max(1, ...renditions.map(one => Math.round(one?.maxSegmentDurationSeconds ?? 0)));
}

function describe(metadata: RenditionMetadata) {
  const { kind, codec, width, height, frameRate, videoRange, channels, language } = metadata;
  return {
    kind,
    codec,
    ...(width === undefined || height === undefined ? {} : { width, height }),
    frameRate,
    videoRange,
    channels,
    language,
  };
}
