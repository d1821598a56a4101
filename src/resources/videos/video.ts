import { languageTagMessages, languageTagProblem } from '../../shared/text/language-tag.ts';
import { parseTimecode, timecodeSeconds } from '../../shared/text/timecode.ts';

/** A pair that an owner attaches to a video; keys may repeat. */
export interface MetadataEntry {
  readonly key: string;
  readonly value: string;
}

/** Which part of the source becomes the video, in milliseconds of the source; undefined is its begin or its end. */
export interface Clip {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
}

/** Where an image is burned in: `id` of the watermark, distances and sizes as `10px`, `10%` or `initial`. */
export type WatermarkPlacement = { readonly id: string } & Readonly<{
  [Field in PlacementField]?: string | undefined;
}>;

/** What a placement may say beside its image. */
export const placementFields = ['top', 'left', 'bottom', 'right', 'width', 'height', 'opacity'] as const;
type PlacementField = (typeof placementFields)[number];

/** A container that holds one uploaded, fetched, copied or recorded video. */
export interface Video {
  readonly videoId: string;
  readonly projectId: string;
  readonly title: string;
  readonly description: string;
  readonly public: boolean;
  readonly panoramic: boolean;
  readonly mp4Support: boolean;
  readonly playerId: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: readonly MetadataEntry[];
  readonly language: string | undefined;
  /** The live stream that it is a recording of. */
  readonly liveStreamId: string | undefined;
  readonly createdAtMs: number;
  readonly publishedAtMs: number;
  readonly updatedAtMs: number;
  /** While it is discarded: since when, and when it is removed for good. */
  readonly discarded: { readonly atMs: number; readonly deletesAtMs: number } | undefined;
}

/** What may be changed of a video; null unsets. */
export interface VideoChanges {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly public?: boolean | undefined;
  readonly panoramic?: boolean | undefined;
  readonly mp4Support?: boolean | undefined;
  readonly playerId?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: readonly MetadataEntry[] | undefined;
  readonly language?: string | null | undefined;
}

/** What a video is made with. `clip` and `watermark` shape the encoding and are never shown again. */
export interface VideoAttributes extends VideoChanges {
  readonly title: string;
  readonly clip?: Clip | undefined;
  readonly watermark?: WatermarkPlacement | undefined;
}

/** Languages that a video can be said to be in. */
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

/** What is wrong with the language of a video; undefined when nothing is. Text tracks can be in more languages. */
export function languageFault(tag: string): string | undefined {
  if (languages.includes(tag)) return undefined;
  return languageTagProblem(tag) ?? languageTagMessages.unknown;
}

/** The source's frame rate is not known when a clip is asked for, so a frame in a timecode is a 25th of a second. */
const framesPerSecond = 25;
/** Minutes and seconds of a clip's ends are below 60. */
const clipTimecode = /^(?:\d+:[0-5]\d:[0-5]\d[.:\d]*|\d+)$/;

/**
 * Reads the timecode of an end of a clip.
 *
 * @returns milliseconds; undefined when it is none
 */
export function clipTimecodeMs(text: string): number | undefined {
  const timecode = clipTimecode.test(text) ? parseTimecode(text) : undefined;
  return timecode && Math.round(timecodeSeconds(timecode, framesPerSecond) * 1_000);
}

/** What is wrong with a value of a watermark's placement; undefined when nothing is. */
export function placementFault(field: PlacementField, value: string): string | undefined {
  if (field === 'opacity') {
    const percent = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(value)?.[1];
    return percent !== undefined && Number(percent) <= 100
      ? undefined
      : 'This value should be "<n>%", up to 100%.';
  }
  if (/^\d{1,5}(?:\.\d{1,3})?(?:px|%)$/.test(value)) return undefined;
  if (field !== 'width' && field !== 'height') return 'This value should be "<n>px" or "<n>%".';
  return value === 'initial' ? undefined : 'This value should be "<n>px", "<n>%" or "initial".';
}
