import { childBoxes, malformed } from './box-reader.ts';
import type { SampleDefaults } from './movie-box.ts';
import { type LocatedSample, readMovieFragment } from './movie-fragment.ts';

interface FragmentLayout {
  /** Samples in the order of the runs; positions count from the start of the fragment. */
  readonly samples: readonly LocatedSample[];
  readonly moofBytes: number;
  readonly decodeTimes: readonly { readonly trackId: number; readonly position: number }[];
}

const noDefaults: SampleDefaults = { durationTicks: 0, sizeBytes: 0, flags: 0 };

/** Reads a fragment of `writeFragment`. @param fragment at least up to the `mdat` header @param bytes in all */
export function readFragmentLayout(
  fragment: Buffer,
  trackIds: readonly number[],
  bytes = fragment.length,
): FragmentLayout {
  const moofBytes = fragment.length < 8 ? 0 : fragment.readUInt32BE(0);
  if (moofBytes + 8 > fragment.length) throw malformed('fragment', 'is truncated');
  const [moof] = childBoxes(fragment, 0, moofBytes, 'fragment');
  const mdatBytes = fragment.readUInt32BE(moofBytes);
  const mdatType = fragment.toString('latin1', moofBytes + 4, moofBytes + 8);
  if (moof?.type !== 'moof' || mdatType !== 'mdat' || moofBytes + mdatBytes !== bytes) {
    throw malformed('fragment', 'is not one "moof" and one "mdat"');
  }
  const body = fragment.subarray(moof.bodyStart, moof.end);
  const samples = readMovieFragment(body, {
    defaults: new Map(trackIds.map(id => [id, noDefaults])),
    nextDts: new Map(),
    position: 0,
    maxDataBytes: bytes,
  });
  for (const { position, sizeBytes } of samples) {
    if (position < moofBytes + 8 || position + sizeBytes > bytes) {
      throw malformed('trun', 'data outside the "mdat" that follows');
    }
  }
  const decodeTimes: { trackId: number; position: number }[] = [];
  for (const traf of childBoxes(fragment, moof.bodyStart, moof.end, 'moof')) {
    if (traf.type !== 'traf') continue;
    const boxes = childBoxes(fragment, traf.bodyStart, traf.end, 'traf');
    const tfhd = boxes.find(({ type }) => type === 'tfhd');
    const tfdt = boxes.find(({ type }) => type === 'tfdt');
    if (tfhd === undefined || tfdt === undefined || tfdt.end - tfdt.bodyStart !== 12) {
      throw malformed('traf', 'has no 64 bit decode time');
    }
    decodeTimes.push({
      trackId: fragment.readUInt32BE(tfhd.bodyStart + 4),
      position: tfdt.bodyStart + 4,
    });
  }
  return { samples, moofBytes, decodeTimes };
}

/** Copies the `moof`. @throws AppError `media-malformed` when a time would be below 0 */
export function shiftDecodeTimes(
  fragment: Buffer,
  { moofBytes, decodeTimes }: FragmentLayout,
  shiftTicks: ReadonlyMap<number, number>,
): Buffer {
  const moof = Buffer.from(fragment.subarray(0, moofBytes));
  for (const { trackId, position } of decodeTimes) {
    const time = Number(moof.readBigUInt64BE(position)) + (shiftTicks.get(trackId) ?? 0);
    if (time < 0) throw malformed('tfdt', `decode time ${time}`);
    moof.writeBigUInt64BE(BigInt(time), position);
  }
  return moof;
}
