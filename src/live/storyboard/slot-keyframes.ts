import { readFragmentLayout } from '../../media/cmaf/fragment-layout.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { OpenFile } from '../../shared/files/opened-file.ts';
import { slotMs, slotsPerSheet } from '../../shared/limits/live-storyboard.ts';
import { readFully } from '../../storage/read-fully.ts';
import type { ClippableMedia, ClippableSegment, DateRange } from '../window/clippable-media.ts';

/** Segments whose first frames are those of the slots of a sheet. */
interface SheetSegments {
  /** Slots that have passed, from the first one of the sheet. */
  readonly slots: number;
  /** Segments by the position of their slot in the sheet. Slots without one show the frame of the slot before. */
  readonly segments: ReadonlyMap<number, ClippableSegment>;
}

/** Holds the header of a part, and most keyframes. */
const headBytes = 64 * 1024;
const maxKeyframeBytes = 8 * 1024 * 1024;

export function datesOfSheet(sheet: number): DateRange {
  const fromMs = sheet * slotsPerSheet * slotMs;
  return { fromMs, untilMs: fromMs + slotsPerSheet * slotMs };
}

/** Undefined without a frame. */
export function segmentsOfSheet(
  { segments }: Pick<ClippableMedia, 'segments'>,
  sheet: number,
): SheetSegments | undefined {
  const last = segments.at(-1);
  if (last === undefined) return undefined;
  const firstSlot = sheet * slotsPerSheet;
  const endMs = last.dateMs + last.durationSeconds * 1000;
  const slots = Math.min(slotsPerSheet, Math.floor(endMs / slotMs) - firstSlot);
  const independent = segments.filter(({ isIndependent }) => isIndependent);
  const found = new Map<number, ClippableSegment>();
  let before: ClippableSegment | undefined;
  for (let slot = 0; slot < slots; slot += 1) {
    const startMs = (firstSlot + slot) * slotMs;
    const segment =
      independent.findLast(({ dateMs }) => dateMs <= startMs + slotMs / 2) ??
      independent.find(({ dateMs }) => dateMs < startMs + slotMs);
    if (segment === undefined || segment === before) continue;
    found.set(slot, segment);
    before = segment;
  }
  return found.size === 0 ? undefined : { slots, segments: found };
}

/** Reads the first keyframe of a segment, and little more. Undefined without one. @throws AppError `media-malformed` */
export async function readKeyframe(
  segment: Pick<ClippableSegment, 'parts'>,
  tracks: readonly TrackDescription[],
  open: OpenFile,
): Promise<Buffer | undefined> {
  const [first] = segment.parts(0);
  if (first === undefined) return undefined;
  return Buffer.isBuffer(first)
    ? keyframeOf(first, tracks, async (at, bytes) => first.subarray(at, at + bytes))
    : readFromFile(first, tracks, open);
}

async function readFromFile(
  { path, start, length }: FileSlice,
  tracks: readonly TrackDescription[],
  open: OpenFile,
): Promise<Buffer | undefined> {
  const file = await open(path);
  try {
    const head = await readFully(file, start, Math.min(length, headBytes));
    return await keyframeOf(head, tracks, async (at, bytes) =>
      at + bytes <= head.length ? head.subarray(at, at + bytes) : readFully(file, start + at, bytes),
    );
  } finally {
    await file.close();
  }
}

async function keyframeOf(
  head: Buffer,
  tracks: readonly TrackDescription[],
  read: (at: number, bytes: number) => Promise<Buffer>,
): Promise<Buffer | undefined> {
  if (head.length < 8) return undefined;
  const moofBytes = head.readUInt32BE(0);
  if (moofBytes + 8 > head.length) return undefined;
  const bytes = moofBytes + head.readUInt32BE(moofBytes);
  const trackIds = tracks.map(({ id }) => id);
  const videoId = tracks.find(({ kind }) => kind === 'video')?.id;
  const { samples } = readFragmentLayout(head.subarray(0, bytes), trackIds, bytes);
  const keyframe = samples.find(({ trackId, isSync }) => trackId === videoId && isSync);
  if (keyframe === undefined || keyframe.sizeBytes > maxKeyframeBytes) return undefined;
  const data = await read(keyframe.position, keyframe.sizeBytes);
  return data.length === keyframe.sizeBytes ? data : undefined;
}
