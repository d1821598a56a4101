import { type Box, childBoxes, FieldReader, malformed } from './box-reader.ts';
import type { SampleDefaults } from './movie-box.ts';

/** Maximum samples per fragment: with defaults, twenty bytes could announce four billion. */
const MAX_SAMPLES = 65_536;

/** Adding a fragment's durations stays exact. */
const MAX_DECODE_TIME = 2 ** 52;

/** ISO/IEC 14496-12:2022, 8.8.3.1. */
const NON_SYNC = 0x00010000;

/** A sample of a `moof` without its data. */
export interface LocatedSample {
  readonly trackId: number;
  readonly dtsTicks: number;
  readonly durationTicks: number;
  readonly compositionOffsetTicks: number;
  readonly isSync: boolean;
  readonly position: number;
  readonly sizeBytes: number;
}

interface FragmentContext {
  readonly defaults: ReadonlyMap<number, SampleDefaults>;
  /** End of each track's last sample; updated here. */
  readonly nextDts: Map<number, number>;
  readonly position: number;
  readonly maxDataBytes: number;
}

interface TrackFragment {
  readonly trackId: number;
  readonly base: number;
  readonly defaults: SampleDefaults;
}

/** ISO/IEC 14496-12:2022, 8.8.4 to 8.8.8 and 8.8.12. */
export function readMovieFragment(body: Buffer, context: FragmentContext): LocatedSample[] {
  const samples: LocatedSample[] = [];
  let dataEnd = context.position;
  for (const traf of childBoxes(body, 0, body.length, 'moof')) {
    if (traf.type === 'traf') dataEnd = readTrackFragment(body, traf, context, dataEnd, samples);
  }
  return samples;
}

/** Returns the position after the `traf`'s data. */
function readTrackFragment(
  body: Buffer,
  traf: Box,
  context: FragmentContext,
  previousEnd: number,
  samples: LocatedSample[],
): number {
  const boxes = childBoxes(body, traf.bodyStart, traf.end, 'traf');
  const tfhd = boxes.find(box => box.type === 'tfhd');
  if (tfhd === undefined) throw malformed('traf', 'has no "tfhd"');
  const fragment = readFragmentHeader(body, tfhd, context, previousEnd);
  const tfdt = boxes.find(box => box.type === 'tfdt');
  const nextDts = context.nextDts.get(fragment.trackId) ?? 0;
  let dts = tfdt === undefined ? nextDts : readDecodeTime(body, tfdt);
  let position = fragment.base;
  for (const trun of boxes) {
    if (trun.type !== 'trun') continue;
    ({ dts, position } = readRun(body, trun, fragment, dts, position, context.maxDataBytes, samples));
  }
  context.nextDts.set(fragment.trackId, dts);
  return position;
}

function readFragmentHeader(
  body: Buffer,
  tfhd: Box,
  context: FragmentContext,
  previousEnd: number,
): TrackFragment {
  const fields = new FieldReader(body, tfhd, 1);
  const flags = fields.u24();
  const trackId = fields.u32();
  const fallback = context.defaults.get(trackId);
  if (fallback === undefined) throw malformed('tfhd', `no track has the id ${trackId}`);
  // Without base-data-offset and default-base-is-moof, data continues after that of the previous `traf`.
  const impliedBase = (flags & 0x020000) === 0 ? previousEnd : context.position;
  const base = (flags & 0x01) === 0 ? impliedBase : fields.u64();
  if ((flags & 0x02) !== 0) fields.skip(4);
  const durationTicks = (flags & 0x08) === 0 ? fallback.durationTicks : fields.u32();
  const sizeBytes = (flags & 0x10) === 0 ? fallback.sizeBytes : fields.u32();
  const sampleFlags = (flags & 0x20) === 0 ? fallback.flags : fields.u32();
  return { trackId, base, defaults: { durationTicks, sizeBytes, flags: sampleFlags } };
}

function readDecodeTime(body: Buffer, tfdt: Box): number {
  const fields = new FieldReader(body, tfdt);
  const version = fields.u8();
  fields.skip(3);
  const time = version === 0 ? fields.u32() : fields.u64();
  if (time > MAX_DECODE_TIME) throw malformed('tfdt', `decode time ${time} is out of range`);
  return time;
}

function readRun(
  body: Buffer,
  trun: Box,
  { trackId, base, defaults }: TrackFragment,
  startDts: number,
  followingPosition: number,
  maxDataBytes: number,
  samples: LocatedSample[],
): { dts: number; position: number } {
  const fields = new FieldReader(body, trun, 1);
  const flags = fields.u24();
  const count = fields.u32();
  if (samples.length + count > MAX_SAMPLES) throw malformed('trun', `${count} samples are too many`);
  let position = (flags & 0x01) === 0 ? followingPosition : base + fields.i32();
  const firstFlags = (flags & 0x04) === 0 ? defaults.flags : fields.u32();
  const runStart = position;
  let dts = startDts;
  for (let index = 0; index < count; index++) {
    const durationTicks = (flags & 0x100) === 0 ? defaults.durationTicks : fields.u32();
    const sizeBytes = (flags & 0x200) === 0 ? defaults.sizeBytes : fields.u32();
    const implied = index === 0 ? firstFlags : defaults.flags;
    const sampleFlags = (flags & 0x400) === 0 ? implied : fields.u32();
    // Version 0 is unsigned, but writers wrap negative offsets around and nobody means an offset of 2^31.
    const compositionOffsetTicks = (flags & 0x800) === 0 ? 0 : fields.i32();
    if (sizeBytes === 0) throw malformed('trun', 'a sample without data');
    const isSync = (sampleFlags & NON_SYNC) === 0;
    samples.push({
      trackId,
      dtsTicks: dts,
      durationTicks,
      compositionOffsetTicks,
      isSync,
      position,
      sizeBytes,
    });
    dts += durationTicks;
    position += sizeBytes;
    if (position - runStart > maxDataBytes)
      throw malformed('trun', `more than ${maxDataBytes} bytes of data`);
  }
  return { dts, position };
}
