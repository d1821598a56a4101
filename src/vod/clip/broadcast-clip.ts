import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { MediaStorage } from '../../storage/media-storage.ts';
import type { VodContext } from '../vod-context.ts';
import type { ClipMedia, ClipRange } from './clip-media.ts';
import { type ClipTarget, type MadeClip, makeClip } from './make-clip.ts';
import { readParts } from './video-clip.ts';

interface BroadcastSegment {
  readonly dateMs: number;
  /** Distance from the first segment in the playlist, gaps and stills included. */
  readonly offsetSeconds: number;
  readonly durationSeconds: number;
  readonly isIndependent: boolean;
  /** Parts in memory, and places of those in files. */
  parts(rendition: number): readonly (Buffer | FileSlice)[];
}

/** Dates of segments approach their arrival by less. A larger difference from their durations is lost time. */
const maxDriftSeconds = 1;

/** The window of a running broadcast. */
interface BroadcastMedia {
  readonly renditions: readonly (readonly TrackDescription[])[];
  /** Oldest first, and not empty. */
  readonly segments: readonly BroadcastSegment[];
}

interface ClippableBroadcast {
  readonly startedAtMs: number;
  /** Milliseconds since the start of the broadcast. */
  readonly available: { readonly startMs: number; readonly endMs: number };
  write(range: ClipRange, target: ClipTarget, signal: AbortSignal): Promise<MadeClip>;
}

/** @param startedAtMs Unix time of the start of the broadcast */
export function clippableBroadcast(
  startedAtMs: number,
  media: BroadcastMedia,
  context: VodContext,
): ClippableBroadcast {
  const first = media.segments[0]!;
  const last = media.segments.at(-1)!;
  return {
    startedAtMs,
    available: {
      startMs: Math.max(0, first.dateMs - startedAtMs),
      endMs: Math.max(0, Math.round(last.dateMs + last.durationSeconds * 1000) - startedAtMs),
    },
    write: (range, target, signal) => {
      const ofRange = mediaOf(media, range, startedAtMs, context.files.storage);
      return makeClip(context, target, { range, media: async () => ofRange, mustEncode: false }, signal);
    },
  };
}

function mediaOf(
  { renditions, segments }: BroadcastMedia,
  range: ClipRange,
  startedAtMs: number,
  storage: MediaStorage,
): ClipMedia {
  const starts = startsOf(segments, range, startedAtMs);
  const first = segments.findLastIndex(
    ({ isIndependent }, index) => isIndependent && starts[index]! <= range.startSeconds,
  );
  const from = Math.max(0, first);
  const end = starts.findIndex((startSeconds, index) => index >= from && startSeconds >= range.endSeconds);
  const wanted = segments.slice(from, end === -1 ? undefined : end);
  return {
    renditions,
    isPlayable: false,
    rows: wanted.map((segment, index) => ({
      startSeconds: starts[from + index]!,
      read: async rendition => {
        // Audio from the frame before the first one of video.
        const before = index === 0 && rendition > 0 ? (segments[from - 1]?.parts(rendition) ?? []) : [];
        return readParts([...before, ...segment.parts(rendition)], storage);
      },
    })),
  };
}

/**
 * Starts of the segments on the clock of the range. The start of the range is in the segment whose dates it is between, as
 * players show it, and durations tell the others, since dates do not exactly follow the media. Where there is too little
 * media for that, the newest segment is placed by its date, so that the clip has its full duration.
 */
function startsOf(segments: readonly BroadcastSegment[], range: ClipRange, startedAtMs: number): number[] {
  const dates = segments.map(({ dateMs }) => (dateMs - startedAtMs) / 1000);
  const isBegun = (seconds: number) => seconds <= range.startSeconds;
  const starts = placedFrom(segments, dates, Math.max(0, dates.findLastIndex(isBegun)));
  const endSeconds = starts.at(-1)! + segments.at(-1)!.durationSeconds;
  return endSeconds < range.endSeconds ? placedFrom(segments, dates, segments.length - 1) : starts;
}

/** Starts of the segments when one of them starts at its date. */
function placedFrom(
  segments: readonly BroadcastSegment[],
  dates: readonly number[],
  anchor: number,
): number[] {
  const starts = [...dates];
  const place = (index: number, neighbor: number) => {
    const distance = segments[index]!.offsetSeconds - segments[neighbor]!.offsetSeconds;
    const startSeconds = starts[neighbor]! + distance;
    if (Math.abs(dates[index]! - startSeconds) < maxDriftSeconds) starts[index] = startSeconds;
  };
  for (let index = anchor + 1; index < segments.length; index += 1) place(index, index - 1);
  for (let index = anchor - 1; index >= 0; index -= 1) place(index, index + 1);
  return starts;
}
