import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { VodContext } from '../vod-context.ts';
import type { ClipMedia, ClipRange, ClipRow } from './clip-media.ts';
import {
  type ClipSample,
  onlyIdrFrames,
  readClipSamples,
  shownAtSeconds,
  shownTicks,
} from './clip-samples.ts';
import { ClipCutRefused, checkEdgeTrack, type EdgeFrames, encodeEdge, withEdges } from './encode-edge.ts';

/** Makes a copy of the video exact. Times are those that frames are decoded at, in ticks. */
export interface ClipEdges {
  /** The track with the parameter sets of the encoded frames. */
  readonly track: TrackDescription;
  /** Frames before the first keyframe of the range. */
  readonly head: readonly ClipSample[];
  readonly copiedFromTicks: number;
  readonly copiedUntilTicks: number;
  /** Frames at the end that refer to later ones in the source. */
  readonly tail: readonly ClipSample[];
  /** The last copied sample, if the source shows its last frame for longer. */
  readonly last: { readonly dtsTicks: number; readonly durationTicks: number } | undefined;
}

interface StartPlan {
  /** Copied, and everything after it. */
  readonly keyframe: ClipSample;
  readonly frames: EdgeFrames | undefined;
  /** Presentation of the encoded ones, in ticks. */
  readonly shown: readonly number[];
}

interface EndPlan extends Pick<ClipEdges, 'copiedUntilTicks' | 'last'> {
  readonly frames: EdgeFrames | undefined;
  /** Times of the encoded ones. */
  readonly times: readonly Pick<ClipSample, 'dtsTicks' | 'durationTicks' | 'compositionOffsetTicks'>[];
}

type ReadVideo = (row: ClipRow) => Promise<ClipSample[]>;

const roundingSeconds = 0.001;
/** A clip begins or ends within a frame that is shown for longer. */
const minStillSeconds = 0.1;
/** Limits the time from keyframe to keyframe, which bounds what is decoded. */
const maxGopSeconds = 30;
const maxGopFrames = 120 * maxGopSeconds;
/** Limits the memory for a group of pictures. */
const maxGopBytes = 256 * 1024 * 1024;

/**
 * Encodes the frames of an exact clip that cannot be copied: those before its first keyframe, and at its end those that refer to
 * later ones. Undefined without video: audio can be copied from any frame.
 * @throws ClipCutRefused; otherwise as `MediaTools.runCommand`
 */
export async function encodeEdges(
  context: VodContext,
  videoId: string,
  { media, range }: { readonly media: ClipMedia; readonly range: ClipRange },
  signal: AbortSignal,
): Promise<ClipEdges | undefined> {
  const rendition = media.renditions.findIndex(tracks => tracks.some(({ kind }) => kind === 'video'));
  const tracks = media.renditions[rendition] ?? [];
  const track = tracks.find(({ kind }) => kind === 'video');
  if (track === undefined) return undefined;
  checkEdgeTrack(track);
  const read = async (row: ClipRow) => {
    signal.throwIfAborted();
    const samples = readClipSamples(await row.read(rendition), tracks);
    return onlyIdrFrames(
      samples.filter(({ trackId }) => trackId === track.id),
      track,
    );
  };
  const start = await planStart(media.rows, read, track, range);
  const end = await planEnd(media.rows, read, track, range);
  if (end.copiedUntilTicks <= start.keyframe.dtsTicks) throw new ClipCutRefused('no keyframe is in it');
  const encode = async (frames: EdgeFrames | undefined, edge: 0 | 1) =>
    frames && encodeEdge(context, { track, frames, edge, videoId }, signal);
  const [head, tail] = await Promise.all([encode(start.frames, 0), encode(end.frames, 1)]);
  const sampleOf = ({ data, isSync }: Pick<ClipSample, 'data' | 'isSync'>) => ({
    data,
    isSync,
    trackId: track.id,
    position: 0,
    sizeBytes: data.length,
  });
  return {
    track: withEdges(track, [head, tail]),
    head: (head?.frames ?? []).map((frame, index) => ({ ...sampleOf(frame), ...headTimes(start, index) })),
    copiedFromTicks: start.keyframe.dtsTicks,
    copiedUntilTicks: end.copiedUntilTicks,
    tail: end.times.map((times, index) => ({ ...sampleOf(tail!.frames[index]!), ...times })),
    last: end.last,
  };
}

async function planStart(
  rows: readonly ClipRow[],
  read: ReadVideo,
  track: TrackDescription,
  range: ClipRange,
): Promise<StartPlan> {
  const samples: ClipSample[] = [];
  let offsetSeconds: number | undefined;
  for (const row of rows) {
    samples.push(...(await read(row)));
    if (samples[0] === undefined) continue;
    checkSpan(samples, track);
    offsetSeconds ??= shownAtSeconds(samples[0], track) - row.startSeconds;
    const plan = startIn(samples, track, range.startSeconds + offsetSeconds);
    if (plan !== undefined) {
      const seconds = shownAtSeconds(plan.keyframe, track) - offsetSeconds;
      if (seconds >= range.endSeconds - roundingSeconds) break;
      return plan;
    }
  }
  throw new ClipCutRefused('no keyframe is in it');
}

/** Undefined when the next keyframe is not among the samples. */
function startIn(
  samples: readonly ClipSample[],
  track: TrackDescription,
  startSeconds: number,
): StartPlan | undefined {
  const shownAt = (sample: ClipSample) => shownAtSeconds(sample, track);
  const before = samples.findLastIndex(
    sample => sample.isSync && shownAt(sample) <= startSeconds + roundingSeconds,
  );
  const earlier = samples[before];
  const first = earlier ?? samples.find(({ isSync }) => isSync);
  if (first === undefined) return undefined;
  if (earlier === undefined || shownAt(earlier) >= startSeconds - roundingSeconds) {
    return { keyframe: first, frames: undefined, shown: [] };
  }
  const next = samples.findIndex(({ isSync }, index) => isSync && index > before);
  const keyframe = samples[next];
  if (keyframe === undefined) return undefined;
  const gop = samples.slice(before, next);
  const isClosed =
    gop.every(sample => shownTicks(sample) < shownTicks(keyframe)) &&
    samples.slice(next + 1).every(sample => shownTicks(sample) > shownTicks(keyframe));
  if (!isClosed) throw new ClipCutRefused('frames are shown across a keyframe');
  const shown = shownOrder(gop).map(shownTicks);
  const found = shown.findIndex(ticks => ticks / track.timescale >= startSeconds - roundingSeconds);
  const nextIndex = found === -1 ? shown.length : found;
  const nextTicks = shown[nextIndex] ?? shownTicks(keyframe);
  if (nextTicks / track.timescale - startSeconds <= minStillSeconds) {
    const frames = nextIndex === shown.length ? undefined : { samples: gop, first: nextIndex };
    return { keyframe, frames, shown: shown.slice(nextIndex) };
  }
  const startTicks = Math.round(startSeconds * track.timescale);
  return {
    keyframe,
    frames: { samples: gop, first: nextIndex - 1 },
    shown: [startTicks, ...shown.slice(nextIndex)],
  };
}

/** Times a frame of the head: it is decoded as long before its presentation as the keyframe that follows. */
function headTimes({ keyframe, shown }: StartPlan, index: number) {
  const { compositionOffsetTicks } = keyframe;
  const shownAtTicks = shown[index]!;
  const nextTicks = shown[index + 1] ?? shownTicks(keyframe);
  return {
    dtsTicks: shownAtTicks - compositionOffsetTicks,
    durationTicks: nextTicks - shownAtTicks,
    compositionOffsetTicks,
  };
}

async function planEnd(
  rows: readonly ClipRow[],
  read: ReadVideo,
  track: TrackDescription,
  range: ClipRange,
): Promise<EndPlan> {
  let samples: ClipSample[] = [];
  for (const row of rows.toReversed()) {
    samples = [...(await read(row)), ...samples];
    checkSpan(samples, track);
    const [first] = samples;
    if (first?.isSync !== true) continue;
    return endIn(samples, track, range.endSeconds + shownAtSeconds(first, track) - row.startSeconds);
  }
  throw new ClipCutRefused('no keyframe is in it');
}

/** @param samples from a keyframe on */
function endIn(samples: readonly ClipSample[], track: TrackDescription, endSeconds: number): EndPlan {
  const isBefore = (sample: ClipSample) => shownAtSeconds(sample, track) < endSeconds - roundingSeconds;
  const endTicks = Math.round(endSeconds * track.timescale);
  const maxStillTicks = endTicks + minStillSeconds * track.timescale;
  const lastShown = shownTicks(shownOrder(samples.filter(isBefore)).at(-1) ?? samples[0]!);
  const beyond = samples.filter(sample => !isBefore(sample)).map(shownTicks);
  if (beyond.length === 0) {
    const { dtsTicks, durationTicks } = samples.at(-1)!;
    const isStill = lastShown + durationTicks > maxStillTicks;
    const last = isStill ? { dtsTicks, durationTicks: endTicks - lastShown } : undefined;
    return { copiedUntilTicks: Number.POSITIVE_INFINITY, last, frames: undefined, times: [] };
  }
  const nextTicks = Math.min(...beyond);
  const lastDurationTicks = (nextTicks > maxStillTicks ? endTicks : nextTicks) - lastShown;
  const copied = copyableUntil(samples, isBefore);
  const copiedUntilTicks = samples[copied]!.dtsTicks;
  const rest = shownOrder(samples.slice(copied).filter(isBefore));
  if (rest.length === 0) {
    const last = { dtsTicks: samples[copied - 1]!.dtsTicks, durationTicks: lastDurationTicks };
    return { copiedUntilTicks, last, frames: undefined, times: [] };
  }
  const needed = samples.slice(
    samples.findLastIndex(({ isSync }, index) => isSync && index < copied),
    samples.findLastIndex(isBefore) + 1,
  );
  // Reuses the times of the frames that were decoded then.
  const times = rest.map((sample, index) => {
    const { dtsTicks } = samples[copied + index]!;
    const isLast = index === rest.length - 1;
    return {
      dtsTicks,
      durationTicks: isLast ? lastDurationTicks : samples[copied + index + 1]!.dtsTicks - dtsTicks,
      compositionOffsetTicks: shownTicks(sample) - dtsTicks,
    };
  });
  const first = shownOrder(needed).indexOf(rest[0]!);
  return { copiedUntilTicks, last: undefined, frames: { samples: needed, first }, times };
}

/**
 * Counts the samples that can be copied: all are shown before the end, and before all others of the clip. At least one, because
 * the first one is a keyframe.
 */
function copyableUntil(samples: readonly ClipSample[], isBefore: (sample: ClipSample) => boolean): number {
  const latest: number[] = [];
  for (const sample of samples) {
    if (!isBefore(sample)) break;
    latest.push(Math.max(latest.at(-1) ?? Number.NEGATIVE_INFINITY, shownTicks(sample)));
  }
  let earliestOfRest = Number.POSITIVE_INFINITY;
  for (let count = samples.length - 1; count > 0; count -= 1) {
    const sample = samples[count]!;
    if (isBefore(sample)) earliestOfRest = Math.min(earliestOfRest, shownTicks(sample));
    if ((latest[count - 1] ?? Number.POSITIVE_INFINITY) < earliestOfRest) return count;
  }
  throw new ClipCutRefused('its end is before a keyframe');
}

/** @throws ClipCutRefused when two frames are shown at the same time */
function shownOrder(samples: readonly ClipSample[]): ClipSample[] {
  const ordered = samples.toSorted((one, other) => shownTicks(one) - shownTicks(other));
  if (ordered.some((sample, index) => index > 0 && shownTicks(sample) === shownTicks(ordered[index - 1]!))) {
    throw new ClipCutRefused('two frames are shown at the same time');
  }
  return ordered;
}

function checkSpan(samples: readonly ClipSample[], { timescale }: TrackDescription): void {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return;
  const seconds = (last.dtsTicks - first.dtsTicks) / timescale;
  if (seconds > maxGopSeconds || samples.length > maxGopFrames) {
    throw new ClipCutRefused(`its keyframes are more than ${maxGopSeconds} s apart`);
  }
  const bytes = samples.reduce((sum, { data }) => sum + data.length, 0);
  if (bytes > maxGopBytes) throw new ClipCutRefused(`its keyframes are more than ${maxGopBytes} bytes apart`);
}
