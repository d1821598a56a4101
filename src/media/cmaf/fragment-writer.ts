import { AppError } from '../../shared/errors.ts';
import { beginFragment, type ColumnRun, SampleColumns } from './fragment-header.ts';
import type { Sample } from './fragment-reader.ts';
import type { LocatedSample } from './movie-fragment.ts';

export type RunSample = Pick<Sample, 'durationTicks' | 'compositionOffsetTicks' | 'isSync' | 'data'>;

export interface TrackRun {
  readonly trackId: number;
  readonly baseDtsTicks: number;
  readonly samples: readonly RunSample[];
}

/** Filled anew for each fragment. */
const reusedColumns: SampleColumns[] = [];

/** ISO/IEC 14496-12:2022, 8.8. Skips empty runs. @throws AppError `server-error` when there are no samples */
export function writeFragment(sequenceNumber: number, runs: readonly TrackRun[]): Buffer {
  const filled: ColumnRun[] = [];
  let dataBytes = 0;
  for (const { trackId, baseDtsTicks, samples } of runs) {
    if (samples.length === 0) continue;
    const columns = reusedColumns[filled.length] ?? new SampleColumns();
    reusedColumns[filled.length] = columns;
    columns.clear();
    for (const { durationTicks, compositionOffsetTicks, isSync, data } of samples) {
      columns.push(durationTicks, data.length, compositionOffsetTicks, isSync);
    }
    dataBytes += columns.dataBytes;
    filled.push({ trackId, baseDtsTicks, samples: columns });
  }
  if (filled.length === 0) throw new AppError('server-error', 'a fragment without samples');
  const { fragment, headerBytes } = beginFragment(sequenceNumber, filled, dataBytes);
  let at = headerBytes;
  for (const { samples } of runs) {
    for (const { data } of samples) {
      fragment.set(data, at);
      at += data.length;
    }
  }
  return fragment;
}

/** Describes the samples of a fragment that {@link writeFragment} wrote, without reading it. Reads no `data`, only its length. */
export function locateSamples(fragment: Buffer, runs: readonly TrackRun[]): LocatedSample[] {
  const located: LocatedSample[] = [];
  // Begins after the `moof` and the header of the `mdat`.
  let position = fragment.readUInt32BE(0) + 8;
  for (const { trackId, baseDtsTicks, samples } of runs) {
    let dtsTicks = baseDtsTicks;
    for (const { durationTicks, compositionOffsetTicks, isSync, data } of samples) {
      const sizeBytes = data.length;
      located.push({
        trackId,
        dtsTicks,
        durationTicks,
        compositionOffsetTicks,
        isSync,
        position,
        sizeBytes,
      });
      dtsTicks += durationTicks;
      position += sizeBytes;
    }
  }
  return located;
}
