import type { FileHandle } from 'node:fs/promises';
import type { CueCutter } from '../../media/webvtt/cue-cutter.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';

const maxSliceMs = 5;
const batchChars = 16_384;

/** Writes what is in the range of the cutter. Returns false without any cue. */
export async function writeCues(
  lines: AsyncIterable<string>,
  cutter: CueCutter,
  output: FileHandle,
  signal: AbortSignal,
): Promise<boolean> {
  const slice = await TimeSlice.begin(maxSliceMs, signal);
  let batch = '';
  for await (const line of lines) {
    batch += cutter.read(line);
    if (batch.length >= batchChars) {
      await output.write(batch);
      batch = '';
    }
    await slice.yieldIfOver();
  }
  await output.write(batch + cutter.end());
  return cutter.hasCues;
}
