import { readFragmentLayout } from '../../media/cmaf/fragment-layout.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { readChildBox, readSampleEntry } from '../../media/cmaf/sample-entry.ts';
import { startsWithIdr } from '../../media/codecs/starts-with-idr.ts';

export interface ClipSample extends LocatedSample {
  readonly data: Buffer;
}

/** Times of frames are rounded. */
const roundingSeconds = 0.001;

/** Reads fragments that follow each other. @throws AppError `media-malformed` */
export function readClipSamples(bytes: Buffer, tracks: readonly TrackDescription[]): ClipSample[] {
  const ids = tracks.map(({ id }) => id);
  const samples: ClipSample[] = [];
  for (let at = 0; at < bytes.length; ) {
    const rest = bytes.subarray(at);
    const moofBytes = rest.length < 8 ? 0 : rest.readUInt32BE(0);
    const mdatBytes = rest.length < moofBytes + 8 ? 0 : rest.readUInt32BE(moofBytes);
    const fragment = rest.subarray(0, moofBytes + mdatBytes);
    for (const sample of readFragmentLayout(fragment, ids).samples) {
      const { position, sizeBytes } = sample;
      samples.push({ ...sample, data: fragment.subarray(position, position + sizeBytes) });
    }
    at += fragment.length;
  }
  return samples;
}

export function shownTicks({
  dtsTicks,
  compositionOffsetTicks,
}: Pick<LocatedSample, 'dtsTicks' | 'compositionOffsetTicks'>): number {
  return dtsTicks + compositionOffsetTicks;
}

export function shownAtSeconds(sample: LocatedSample, { timescale }: TrackDescription): number {
  return shownTicks(sample) / timescale;
}

/** Marks the IDR frames of H.264 as well, because indexes mark only those that begin a segment. */
export async function withIdrFrames(
  samples: readonly ClipSample[],
  track: TrackDescription,
): Promise<ClipSample[]> {
  if (!track.codec.startsWith('avc')) return [...samples];
  const idr = await onlyIdrFrames(samples, track);
  return idr.map((sample, index) => ({ ...sample, isSync: sample.isSync || samples[index]!.isSync }));
}

/** Marks the IDR frames of H.264 alone: after other keyframes, frames may refer to those before. */
export function onlyIdrFrames(
  samples: readonly ClipSample[],
  { sampleEntry }: TrackDescription,
): Promise<ClipSample[]> {
  const config = readChildBox(sampleEntry, readSampleEntry(sampleEntry, 'video'), 'avcC');
  config.skip(4);
  const lengthBytes = (config.u8() & 3) + 1;
  return Promise.all(
    samples.map(async sample => {
      const { data } = sample;
      const readAt = async (position: number, length: number) => data.subarray(position, position + length);
      return { ...sample, isSync: await startsWithIdr(readAt, 0, data.length, lengthBytes) };
    }),
  );
}

/**
 * Video from the last keyframe that is shown at a time or before, or else from the first one. Leaves out frames that are
 * shown before the keyframe and decoded after it.
 */
export function fromKeyframe(
  samples: readonly ClipSample[],
  track: TrackDescription,
  atSeconds: number,
): ClipSample[] {
  const isEarlyKeyframe = (sample: ClipSample) =>
    sample.isSync && shownAtSeconds(sample, track) <= atSeconds + roundingSeconds;
  const last = samples.findLastIndex(isEarlyKeyframe);
  const index = last === -1 ? samples.findIndex(({ isSync }) => isSync) : last;
  const keyframe = samples[index];
  if (keyframe === undefined) return [];
  const startSeconds = shownAtSeconds(keyframe, track);
  const rest = samples.slice(index + 1);
  const leading = rest.findIndex(sample => shownAtSeconds(sample, track) > startSeconds);
  const later = leading === -1 ? [] : rest.slice(leading);
  const [next] = later;
  return next === undefined
    ? [keyframe]
    : [{ ...keyframe, durationTicks: next.dtsTicks - keyframe.dtsTicks }, ...later];
}

/** Audio from one frame before a time, which decoders need. */
export function fromFrameBefore(
  samples: readonly ClipSample[],
  track: TrackDescription,
  atSeconds: number,
): ClipSample[] {
  const first = samples.findIndex(sample => shownAtSeconds(sample, track) > atSeconds + roundingSeconds);
  const index = first === -1 ? samples.length : first;
  return samples.slice(Math.max(0, index - 2));
}

/** Frames up to the last one that is shown before a time: in decode order, it may depend on later ones. */
export function untilShown(
  samples: readonly ClipSample[],
  track: TrackDescription,
  endSeconds: number,
): ClipSample[] {
  const isBefore = (sample: ClipSample) => shownAtSeconds(sample, track) < endSeconds - roundingSeconds;
  return samples.slice(0, samples.findLastIndex(isBefore) + 1);
}
