import type { PlaybackPolicy, ViewerLimits } from '../../../shared/playback-policy.ts';
import { languageTagMessages, languageTagProblem } from '../../../shared/text/language-tag.ts';
import { parseTimecode, timecodeSeconds } from '../../../shared/text/timecode.ts';
import type { SummaryAttribute } from '../summaries/summary.ts';

/** Keys may repeat. */
interface MetadataEntry {
  readonly key: string;
  readonly value: string;
}

/** Start of a clip: the keyframe at its start or before, or the exact frame. */
type ClipPrecision = 'keyframe' | 'frame';

/** Milliseconds; undefined means the start or the end of the source. */
export interface Clip {
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  /** The end of the source, in the place of the others. */
  readonly lastMs?: number | undefined;
  /** Time at which `lastMs` of a broadcast ends, in milliseconds since 1970. */
  readonly untilMs?: number | undefined;
  readonly precision?: ClipPrecision | undefined;
}

/** Distances and sizes such as `10px`, `10%` or `initial`. */
export type WatermarkPlacement = { readonly id: string } & Readonly<{
  [Field in PlacementField]?: string | undefined;
}>;

/** The owner is told so long before a video expires. */
export const expiryNoticeMs = 24 * 3_600_000;

export const placementFields = ['top', 'left', 'bottom', 'right', 'width', 'height', 'opacity'] as const;
type PlacementField = (typeof placementFields)[number];

export interface Video {
  readonly videoId: string;
  readonly projectId: string;
  readonly title: string;
  readonly description: string;
  readonly public: boolean;
  /** In the channel of the project, while it is public. */
  readonly listed?: boolean | undefined;
  readonly panoramic: boolean;
  readonly mp4Support: boolean;
  readonly playerId: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: readonly MetadataEntry[];
  readonly language: string | undefined;
  /** True when a model detected the language. */
  readonly isLanguageDetected?: boolean | undefined;
  /** All its renditions are audio. */
  readonly isAudioOnly?: boolean;
  readonly liveStreamId: string | undefined;
  /** The video or live stream that it is a clip of. */
  readonly clippedFrom?: string | undefined;
  readonly createdAtMs: number;
  readonly publishedAtMs: number;
  readonly updatedAtMs: number;
  /** Time at which the video is deleted. Undefined: never. */
  readonly expiresAtMs?: number | undefined;
  /** Undefined uses that of the project. */
  readonly playbackPolicy?: PlaybackPolicy | undefined;
  readonly discarded: { readonly atMs: number; readonly deletesAtMs: number } | undefined;
}

/** Asks models for texts. */
export interface TextRequest {
  readonly transcript?: boolean | undefined;
  readonly transcriptSummary?: boolean | undefined;
  readonly transcriptSummaryAttributes?: readonly SummaryAttribute[] | undefined;
}

export interface VideoChanges extends TextRequest {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly public?: boolean | undefined;
  readonly listed?: boolean | undefined;
  readonly panoramic?: boolean | undefined;
  readonly mp4Support?: boolean | undefined;
  readonly playerId?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: readonly MetadataEntry[] | undefined;
  readonly language?: string | null | undefined;
  /** Milliseconds; null is never. */
  readonly expiresAt?: number | null | undefined;
  readonly playbackPolicy?: PlaybackPolicy | null | undefined;
}

/** `clip` and `watermark` control the encoding and are not shown. */
export interface VideoAttributes extends VideoChanges {
  readonly title: string;
  readonly clip?: Clip | undefined;
  /** Limits of the viewer who makes a clip. */
  readonly viewerLimits?: ViewerLimits | undefined;
  readonly watermark?: WatermarkPlacement | undefined;
}

export const languages: readonly string[] = [
  ...[
    'ar',
    'ca',
    'cs',
    'da',
    'de',
    'el',
    'en',
    'es',
    'fa',
    'fi',
    'fr',
    'he',
    'hi',
    'hr',
    'hu',
    'it',
    'ja',
    'ko',
    'ml',
  ],
  ...['nl', 'nn', 'no', 'pl', 'pt', 'ru', 'sk', 'sl', 'te', 'tr', 'uk', 'ur', 'vi', 'zh'],
];

/** Text tracks support more languages. */
export function languageProblem(tag: string): string | undefined {
  if (languages.includes(tag)) return undefined;
  return languageTagProblem(tag) ?? languageTagMessages.unknown;
}

/** The frame rate is unknown when a clip is requested, so a frame in a timecode is a 25th of a second. */
const framesPerSecond = 25;
const clipTimecode = /^(?:\d+:[0-5]\d:[0-5]\d[.:\d]*|\d+)$/;

export function clipTimecodeMs(text: string): number | undefined {
  const timecode = clipTimecode.test(text) ? parseTimecode(text) : undefined;
  return timecode && Math.round(timecodeSeconds(timecode, framesPerSecond) * 1_000);
}

const position = /^\d{1,5}(?:\.\d{1,3})?(?:px|%)$/;
const size = /^(?:\d{1,5}(?:\.\d{1,3})?(?:px|%)|initial)$/;
export const placementPatterns = {
  top: position,
  left: position,
  bottom: position,
  right: position,
  width: size,
  height: size,
  opacity: /^(?:100(?:\.0{1,3})?|0?\d{1,2}(?:\.\d{1,3})?)%$/,
} as const satisfies Record<PlacementField, RegExp>;

export function placementProblem(field: PlacementField, value: string): string | undefined {
  const pattern = placementPatterns[field];
  if (pattern.test(value)) return undefined;
  if (field === 'opacity') return 'This value should be "<n>%", up to 100%.';
  return `This value should be "<n>px"${pattern === size ? ', "<n>%" or "initial"' : ' or "<n>%"'}.`;
}
