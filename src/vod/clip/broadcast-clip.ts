import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { MediaStorage } from '../../storage/media-storage.ts';
import type { VodContext } from '../vod-context.ts';
import type { ClipMedia, ClipRange } from './clip-media.ts';
import { type ClipTarget, type MadeClip, makeClip } from './make-clip.ts';
import { readParts } from './video-clip.ts';

interface BroadcastSegment {
  readonly dateMs: number;
  readonly durationSeconds: number;
  readonly isIndependent: boolean;
  /** Parts in memory, and places of those in files. */
  parts(rendition: number): readonly (Buffer | FileSlice)[];
}

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
  const startOf = ({ dateMs }: BroadcastSegment) => (dateMs - startedAtMs) / 1000;
  const first = segments.findLastIndex(
    segment => segment.isIndependent && startOf(segment) <= range.startSeconds,
  );
  const from = Math.max(0, first);
  const wanted = segments.slice(from).filter(segment => startOf(segment) < range.endSeconds);
  return {
    renditions,
    isPlayable: false,
    rows: wanted.map((segment, index) => ({
      startSeconds: startOf(segment),
      read: async rendition => {
        // Audio from the frame before the first one of video.
        const before = index === 0 && rendition > 0 ? (segments[from - 1]?.parts(rendition) ?? []) : [];
        return readParts([...before, ...segment.parts(rendition)], storage);
      },
    })),
  };
}
