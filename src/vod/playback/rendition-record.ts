import type { OpenRendition, RenditionMetadata } from '../index/rendition.ts';
import type { GrowingVideo } from './growing-videos.ts';

/** What is written down of a finished rendition, so that the multivariant playlist is made without opening its index. */
export interface RenditionRecord {
  /** Part of its segments' names: another encode of the same rung has another. */
  readonly generation: number;
  readonly kind: 'video' | 'audio';
  readonly codec: string;
  readonly width?: number;
  readonly height?: number;
  readonly frameRate?: number;
  readonly videoRange?: 'SDR' | 'HLG' | 'PQ';
  readonly channels?: number;
  /** As the source names it. */
  readonly language?: string;
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
  readonly durationSeconds: number;
  /** End of its last frame, counted from the first presented instant of the source; absent in records of older versions. */
  readonly endSeconds?: number;
}

/** A rendition as the multivariant playlist names it. */
export interface PlayableRendition {
  /** `720p` and the like, or `audio`. */
  readonly name: string;
  readonly record: RenditionRecord;
}

/** The rungs of the ladder, lowest first. */
const rungNames = ['240p', '360p', '480p', '720p', '1080p', '2160p'] as const;

/** Every name that a rendition can have in an address. */
export const renditionNames: ReadonlySet<string> = new Set([...rungNames, 'audio']);

/** What is written down of a rendition once it is complete. */
export function recordOf(
  rendition: OpenRendition,
  generation: number,
  targetDurationSeconds: number,
): RenditionRecord {
  const { peakBitsPerSecond, averageBitsPerSecond } = rendition.bitRates(targetDurationSeconds);
  const durationSeconds = rendition.facts.durationTicks / rendition.facts.timescale;
  return {
    generation,
    ...describe(rendition.facts),
    // EXTINF is written with five decimals: players work the peak out from those.
    peakBitsPerSecond: Math.ceil(peakBitsPerSecond * 1.0005),
    averageBitsPerSecond,
    durationSeconds,
    endSeconds: durationSeconds + (rendition.segmentCount === 0 ? 0 : rendition.startSeconds(0)),
  };
}

/** The same for one that grows, by what there is of it. */
export function recordOfGrowing(rendition: OpenRendition, video: GrowingVideo): RenditionRecord {
  return recordOf(rendition, video.generation, video.targetDurationSeconds);
}

/** Whole seconds that no segment's rounded duration is above: EXT-X-TARGETDURATION. */
export function targetDurationOf(facts: readonly (RenditionMetadata | undefined)[]): number {
  return Math.max(1, ...facts.map(fact => Math.round(fact?.longestSegmentSeconds ?? 0)));
}

function describe(facts: RenditionMetadata) {
  const { kind, codec, width, height, frameRate, videoRange, channels, language } = facts;
  return {
    kind,
    codec,
    ...(width === undefined || height === undefined ? {} : { width, height }),
    ...(frameRate === undefined ? {} : { frameRate }),
    ...(videoRange === undefined ? {} : { videoRange }),
    ...(channels === undefined ? {} : { channels }),
    ...(language === undefined ? {} : { language }),
  };
}
