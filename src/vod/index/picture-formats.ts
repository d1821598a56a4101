import type { ProgressiveTrack, ReadAt } from '../../media/cmaf/progressive-file.ts';
import { SampleCursor } from '../../media/cmaf/sample-cursor.ts';
import { readChildBox, readSampleEntry } from '../../media/cmaf/sample-entry.ts';
import { frameOrderReader } from '../../media/codecs/frame-order.ts';
import { avcParameterSets, SEQUENCE_PARAMETER_SET } from '../../media/codecs/nal-units.ts';
import { avcOrder, avcPictureFormat } from '../../media/codecs/parameter-set.ts';
import { readSampleStart } from '../../media/codecs/starts-with-idr.ts';
import type { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import { refusal } from './track-survey.ts';

const MAX_BATCH = 64;

/** Frames whose order is compared with their times. */
const MAX_ORDERED_FRAMES = 250;
/** Covers the units before the first slice, and the start of its header. */
const ORDER_BYTES = 1024;

/**
 * Players size their pictures by the configuration of the track, and stretch those that have another size. Reads every
 * keyframe: parameter sets need not be repeated. @throws AppError `media-refused` if the pictures change their size, shape
 * or profile
 */
export async function checkPictureFormats(
  track: ProgressiveTrack,
  readAt: ReadAt,
  fileBytes: number,
  slice: TimeSlice,
): Promise<void> {
  const formats = new Set(configuredSequences(track).map(avcPictureFormat));
  const cursor = new SampleCursor(track.samples, fileBytes);
  let reads: ReturnType<typeof readSampleStart>[] = [];
  const check = async () => {
    for (const { sequences } of await Promise.all(reads)) {
      for (const unit of sequences) formats.add(avcPictureFormat(unit));
      if (formats.size > 1) throw refusal('changes the size or profile of its pictures');
    }
    reads = [];
  };
  while (cursor.next()) {
    if (slice.isOver) await slice.next();
    if (!cursor.isSync) continue;
    reads.push(readSampleStart(readAt, cursor.position, cursor.sizeBytes, track.lengthBytes));
    if (reads.length === MAX_BATCH) await check();
  }
  await check();
}

/**
 * Some programs write reordered frames with the times of their decoding, which players would show in that order.
 * @throws AppError `media-refused` if the frames are reordered, and their times are not
 */
export async function checkPictureOrder(
  track: ProgressiveTrack,
  readAt: ReadAt,
  fileBytes: number,
  slice: TimeSlice,
): Promise<void> {
  const [sequence] = configuredSequences(track);
  const { syntax, maxReordered } = (sequence && avcOrder(sequence)) ?? {};
  if (syntax === undefined || maxReordered === 0 || track.lengthBytes !== 4) return;
  const reader = frameOrderReader(syntax);
  const cursor = new SampleCursor(track.samples, fileBytes);
  let former: { readonly order: number | undefined; readonly ptsTicks: number } | undefined;
  let isReordered = false;
  while (cursor.next() && cursor.number < MAX_ORDERED_FRAMES) {
    if (slice.isOver) await slice.next();
    const { position, sizeBytes, ptsTicks } = cursor;
    if (former !== undefined && ptsTicks < former.ptsTicks) return;
    const { order, isIdr } = reader.next(await readAt(position, Math.min(sizeBytes, ORDER_BYTES))) ?? {};
    if (isIdr === false && former?.order !== undefined) isReordered ||= order! < former.order;
    former = { order, ptsTicks };
  }
  if (isReordered) throw refusal('has reordered frames without their times');
}

function configuredSequences({ description }: ProgressiveTrack): readonly Buffer[] {
  const { sampleEntry } = description!;
  const config = readChildBox(sampleEntry, readSampleEntry(sampleEntry, 'video'), 'avcC');
  const units = avcParameterSets(config.bytes(config.remaining))?.units ?? [];
  return units.filter(unit => (unit[0]! & 0x1f) === SEQUENCE_PARAMETER_SET);
}
