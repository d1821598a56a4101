import { AppError } from '../../shared/errors.ts';
import { box, fullBox, u32 } from './box-writer.ts';
import type { Sample } from './fragment-reader.ts';

/** ISO/IEC 14496-12:2022, 8.8.3.1. */
const SYNC_FLAGS = 0x02000000;
const NON_SYNC_FLAGS = 0x01010000;

export type RunSample = Pick<Sample, 'durationTicks' | 'compositionOffsetTicks' | 'isSync' | 'data'>;

export interface TrackRun {
  readonly trackId: number;
  readonly baseDtsTicks: number;
  readonly samples: readonly RunSample[];
}

/** ISO/IEC 14496-12:2022, 8.8. Skips empty runs. @throws AppError `server-error` when there are no samples */
export function writeFragment(sequenceNumber: number, runs: readonly TrackRun[]): Buffer {
  const filled = runs.filter(run => run.samples.length > 0);
  if (filled.length === 0) throw new AppError('server-error', 'a fragment without samples');
  const trafs = filled.map(trackFragment);
  const moofBytes = trafs.reduce((sum, { traf }) => sum + traf.length, 8 + 16);
  const dataBytes = filled.reduce((sum, { samples }) => sum + bytesOf(samples), 0);

  const fragment = Buffer.allocUnsafeSlow(moofBytes + 8 + dataBytes);
  let at = append(fragment, 0, u32(moofBytes));
  at += fragment.write('moof', at, 'latin1');
  at = append(fragment, at, fullBox('mfhd', 0, 0, u32(sequenceNumber)));
  let dataOffset = moofBytes + 8;
  for (const [index, { traf, dataOffsetAt }] of trafs.entries()) {
    traf.writeInt32BE(dataOffset, dataOffsetAt);
    at = append(fragment, at, traf);
    dataOffset += bytesOf(filled[index]?.samples ?? []);
  }
  at = append(fragment, at, u32(8 + dataBytes));
  at += fragment.write('mdat', at, 'latin1');
  for (const { samples } of filled) {
    for (const { data } of samples) at = append(fragment, at, data);
  }
  return fragment;
}

/** Leaves the data offset at `dataOffsetAt` to the caller. Values that all samples share are in the `tfhd`. */
function trackFragment({ trackId, baseDtsTicks, samples }: TrackRun): { traf: Buffer; dataOffsetAt: number } {
  const durations = samples.map(({ durationTicks }) => durationTicks);
  const sizes = samples.map(({ data }) => data.length);
  const flags = samples.map(({ isSync }) => (isSync ? SYNC_FLAGS : NON_SYNC_FLAGS));
  const offsets = samples.map(({ compositionOffsetTicks }) => compositionOffsetTicks);
  // `tfhd` flag for a default, `trun` flag for per-sample values.
  const fields = [
    { values: durations, defaultFlag: 0x08, sampleFlag: 0x100 },
    { values: sizes, defaultFlag: 0x10, sampleFlag: 0x200 },
    { values: flags, defaultFlag: 0x20, sampleFlag: 0x400 },
  ];
  const shared = fields.filter(({ values }) => values.every(value => value === values[0]));
  const varying = fields.filter(field => !shared.includes(field));
  const hasOffsets = offsets.some(offset => offset !== 0);

  const tfhdFlags = shared.reduce((sum, { defaultFlag }) => sum | defaultFlag, 0x020000);
  const trunFlags = varying.reduce((sum, { sampleFlag }) => sum | sampleFlag, hasOffsets ? 0x801 : 0x001);
  const perSample = Buffer.alloc(4 * samples.length * (varying.length + (hasOffsets ? 1 : 0)));
  let at = 0;
  for (const index of samples.keys()) {
    for (const { values } of varying) at = perSample.writeUInt32BE(values[index] ?? 0, at);
    if (hasOffsets) at = perSample.writeInt32BE(offsets[index] ?? 0, at);
  }

  const tfhd = fullBox('tfhd', 0, tfhdFlags, u32(trackId, ...shared.map(({ values }) => values[0] ?? 0)));
  const tfdt = fullBox('tfdt', 1, 0, u32(Math.floor(baseDtsTicks / 2 ** 32), baseDtsTicks % 2 ** 32));
  const trun = fullBox('trun', 1, trunFlags, u32(samples.length, 0), perSample);
  return { traf: box('traf', tfhd, tfdt, trun), dataOffsetAt: 8 + tfhd.length + tfdt.length + 16 };
}

function bytesOf(samples: readonly RunSample[]): number {
  return samples.reduce((sum, { data }) => sum + data.length, 0);
}

function append(target: Buffer, at: number, part: Buffer): number {
  part.copy(target, at);
  return at + part.length;
}
