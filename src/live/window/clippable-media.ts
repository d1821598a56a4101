import { parseInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { ListedTrackLabel } from './listed-audio.ts';
import { listedAudioLabels } from './listed-audio.ts';
import type { SegmentStore } from './segment-store.ts';

/** The media that viewers can rewind to, of the source and its audio, since the tracks changed last. */
export interface ClippableMedia {
  /** The source first. */
  readonly renditions: readonly (readonly TrackDescription[])[];
  readonly segments: readonly ClippableSegment[];
}

export interface ClippableSegment {
  /** Unix time. */
  readonly dateMs: number;
  /** Distance from the first segment in the playlist, gaps and stills included. */
  readonly offsetSeconds: number;
  readonly durationSeconds: number;
  readonly isIndependent: boolean;
  /** Empty when the rendition has none. */
  parts(rendition: number): readonly (Buffer | FileSlice)[];
}

/** Unix times. */
export interface DateRange {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface AudioSegments {
  readonly trackId: number;
  readonly segments: SegmentStore;
}

/** Maximum lag of an audio rendition that ended, or that has just begun. */
const maxAudioLagSegments = 3;

/** @param dates limits the segments to those that are shown then, and the last one of all: a day of rewind has tens of thousands */
export function clippableMedia(
  source: SegmentStore,
  audio: readonly AudioSegments[],
  labelOf: (trackId: number) => ListedTrackLabel,
  dates?: DateRange,
): ClippableMedia | undefined {
  const { log } = source;
  const current = audio.filter(({ segments }) => segments.log.end + maxAudioLagSegments >= log.end);
  const end = Math.min(log.end, ...current.map(({ segments }) => segments.log.end));
  const initNumber = end > source.first ? log.initNumber(end - 1) : undefined;
  const init = initNumber === undefined ? undefined : source.init(initNumber);
  if (init === undefined) return undefined;
  if (dates !== undefined && log.dateMs(source.first) >= dates.untilMs) return undefined;
  const numbers: number[] = [];
  for (let number = end - 1; number >= source.first && log.initNumber(number) === initNumber; number -= 1) {
    if (log.isGap(number) || log.isFiller(number)) continue;
    const dateMs = log.dateMs(number);
    if (dates === undefined || dateMs < dates.untilMs || numbers.length === 0) numbers.push(number);
    if (dates !== undefined && dateMs <= dates.fromMs && log.isJoinable(number)) break;
  }
  numbers.reverse();
  const firstIndependent = numbers.findIndex(number => log.isJoinable(number));
  const offsets = new Map<number, number>();
  let offsetSeconds = 0;
  for (let number = numbers[firstIndependent] ?? end; number < end; number += 1) {
    offsets.set(number, offsetSeconds);
    offsetSeconds += log.durationSeconds(number);
  }
  const tracked = current.flatMap(({ trackId, segments }) => {
    const ownInit = segments.log.initNumber(segments.log.end - 1);
    const bytes = segments.init(ownInit);
    return bytes === undefined ? [] : [{ trackId, segments, ownInit, bytes }];
  });
  const labels = listedAudioLabels(
    tracked.map(({ trackId }) => trackId),
    labelOf,
  );
  const partsOf = (store: SegmentStore, number: number, wantedInit: number | undefined) =>
    store.log.has(number) && store.log.initNumber(number) === wantedInit && !store.log.isFiller(number)
      ? (store.segment(number)?.body ?? [])
      : [];
  return {
    renditions: [
      parseInitSegment(init),
      ...tracked.map(({ trackId, bytes }) => {
        const label = tracked.length > 1 ? labels.get(trackId) : undefined;
        return parseInitSegment(bytes).map(track => (label === undefined ? track : { ...track, label }));
      }),
    ],
    segments: (firstIndependent === -1 ? [] : numbers.slice(firstIndependent)).map(number => ({
      dateMs: log.dateMs(number),
      offsetSeconds: offsets.get(number)!,
      durationSeconds: log.durationSeconds(number),
      isIndependent: log.isJoinable(number),
      parts: rendition => {
        if (rendition === 0) return partsOf(source, number, initNumber);
        const own = tracked[rendition - 1];
        return own === undefined ? [] : partsOf(own.segments, number, own.ownInit);
      },
    })),
  };
}
