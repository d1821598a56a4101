import { refusal, type SyncPoints } from './track-survey.ts';

/** Rounds to 10, the longest target duration that players' first buffers are made for; ten seconds of 24 frames end here. */
export const MAX_SEGMENT_SECONDS = 10.49;

/** A keyframe that is half a millisecond early is not early. */
const ROUNDING_SECONDS = 0.0005;

const MAX_BATCH = 64;

/** What {@link cutAtKeyframes} needs to know. */
export interface VideoToCut {
  readonly syncs: SyncPoints;
  readonly timescale: number;
  /** When the first segment begins, and when the last frame ends. */
  readonly startTicks: number;
  readonly endTicks: number;
  readonly segmentSeconds: number;
  /** Whether nothing after the sync sample needs what is before; asked for several at once. */
  readonly canBegin: (sync: number) => Promise<boolean>;
}

/**
 * Chooses the sync samples that segments begin with: each time the first one that is `segmentSeconds` or more after the one before, or,
 * where that makes too long a segment, the last one before it.
 *
 * @returns indexes into `syncs`, the first of them 0
 * @throws AppError `media-refused` when the keyframes are too far apart
 */
export async function cutAtKeyframes(video: VideoToCut): Promise<number[]> {
  const { syncs, canBegin } = video;
  if (!(await canBegin(0))) throw refusal('does not begin with a keyframe that stands alone');
  const cannotBegin = new Set<number>();
  const cuts = [0];
  let batch = MAX_BATCH;
  for (;;) {
    const proposed: number[] = [];
    let last = cuts.at(-1)!;
    while (proposed.length < batch) {
      const next = nextCut(video, last, cannotBegin);
      if (next === undefined) break;
      proposed.push(next);
      last = next;
    }
    if (proposed.length === 0) return cuts;
    const answers = await Promise.all(proposed.map(canBegin));
    const wrong = answers.indexOf(false);
    cuts.push(...(wrong === -1 ? proposed : proposed.slice(0, wrong)));
    if (wrong !== -1) cannotBegin.add(proposed[wrong]!);
    batch = wrong === -1 ? Math.min(MAX_BATCH, batch * 2) : 1;
    if (cannotBegin.size > syncs.numbers.length) return cuts;
  }
}

/** The cut after the one at `from`; undefined when the rest is one segment. */
function nextCut(video: VideoToCut, from: number, cannotBegin: ReadonlySet<number>): number | undefined {
  const { syncs, timescale, startTicks, endTicks, segmentSeconds } = video;
  const start = from === 0 ? startTicks : syncs.ptsTicks[from]!;
  const most = start + MAX_SEGMENT_SECONDS * timescale;
  const enough = start + (segmentSeconds - ROUNDING_SECONDS) * timescale;
  let earlier: number | undefined;
  let found: number | undefined;
  for (let sync = from + 1; sync < syncs.numbers.length; sync++) {
    if (cannotBegin.has(sync)) continue;
    const pts = syncs.ptsTicks[sync]!;
    if (pts >= enough) {
      if (pts <= most) found = sync;
      break;
    }
    if (pts > start) earlier = sync;
  }
  if (found !== undefined) return found;
  if (endTicks <= most) return undefined;
  if (earlier === undefined) {
    const at = Math.max(0, Math.round((start - startTicks) / timescale));
    throw refusal(`has no keyframe for more than ${Math.floor(MAX_SEGMENT_SECONDS)} s (from ${at} s on)`);
  }
  return earlier;
}
