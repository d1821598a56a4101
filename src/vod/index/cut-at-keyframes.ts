import { refusal, type SyncPoints } from './track-survey.ts';

/** Rounds to 10, the highest target duration that players' first buffers are sized for. Ten seconds at 24 fps end here. */
const MAX_SEGMENT_SECONDS = 10.49;

const ROUNDING_SECONDS = 0.0005;

const MAX_BATCH = 64;

interface VideoToCut {
  readonly syncs: SyncPoints;
  readonly timescale: number;
  readonly startTicks: number;
  readonly endTicks: number;
  readonly segmentSeconds: number;
  /** True if no later frame depends on frames before the sync sample. Called for several samples at once. */
  readonly canBegin: (sync: number) => Promise<boolean>;
}

/**
 * Cuts at the first sync sample at least `segmentSeconds` after the previous cut, or, if that makes the
 * segment too long, at the last one before it. Returns indexes into `syncs`, the first of them 0. @throws
 * AppError `media-refused` when the keyframes are too far apart
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
    const canBeginAll = await Promise.all(proposed.map(canBegin));
    const rejected = canBeginAll.indexOf(false);
    cuts.push(...(rejected === -1 ? proposed : proposed.slice(0, rejected)));
    if (rejected !== -1) cannotBegin.add(proposed[rejected]!);
    batch = rejected === -1 ? Math.min(MAX_BATCH, batch * 2) : 1;
    if (cannotBegin.size > syncs.numbers.length) return cuts;
  }
}

function nextCut(video: VideoToCut, from: number, cannotBegin: ReadonlySet<number>): number | undefined {
  const { syncs, timescale, startTicks, endTicks, segmentSeconds } = video;
  const start = from === 0 ? startTicks : syncs.ptsTicks[from]!;
  const latest = start + MAX_SEGMENT_SECONDS * timescale;
  const earliest = start + (segmentSeconds - ROUNDING_SECONDS) * timescale;
  let earlier: number | undefined;
  let found: number | undefined;
  for (let sync = from + 1; sync < syncs.numbers.length; sync++) {
    if (cannotBegin.has(sync)) continue;
    const pts = syncs.ptsTicks[sync]!;
    if (pts >= earliest) {
      if (pts <= latest) found = sync;
      break;
    }
    if (pts > start) earlier = sync;
  }
  if (found !== undefined) return found;
  if (endTicks <= latest) return undefined;
  if (earlier === undefined) {
    const at = Math.max(0, Math.round((start - startTicks) / timescale));
    throw refusal(`has no keyframe for more than ${Math.floor(MAX_SEGMENT_SECONDS)} s (from ${at} s on)`);
  }
  return earlier;
}
