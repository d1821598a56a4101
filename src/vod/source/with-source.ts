import { constants, copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { findNegativeTicks, shiftTimes } from '../../media/matroska/shift-times.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import { readerOf } from '../index/index-progressive.ts';
import type { VodContext } from '../vod-context.ts';

const maxSliceMs = 5;

/**
 * Calls `work` with the local source of a video. A Matroska file with times below zero, which ffmpeg would lose, is replaced by a
 * copy whose times begin at zero.
 */
export async function withSource<Result>(
  context: VodContext,
  videoId: string,
  work: (path: string) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const { files, settings, log } = context;
  return files.storage.withLocal(
    files.source(videoId),
    async path => {
      const source = await open(path, 'r');
      try {
        const readAt = readerOf(source);
        const slice = new TimeSlice(maxSliceMs, signal);
        const earliest = await findNegativeTicks(readAt, slice);
        if (earliest === 0) return await work(path);
        const { size } = await source.stat();
        await files.ensureFreeSpace(size, settings.minFreeBytes);
        return await files.inWorkFolder(async folder => {
          const copy = join(folder, 'source');
          await copyFile(path, copy, constants.COPYFILE_FICLONE);
          const isShifted = await shiftFile(copy, readAt, -earliest, slice);
          if (!isShifted) log.warn('negative-times-not-shifted', { videoId, earliest });
          return work(isShifted ? copy : path);
        });
      } finally {
        await source.close();
      }
    },
    signal,
  );
}

async function shiftFile(
  path: string,
  readAt: ReturnType<typeof readerOf>,
  ticks: number,
  slice: TimeSlice,
): Promise<boolean> {
  const copy = await open(path, 'r+');
  try {
    const patches = shiftTimes(readAt, ticks, slice);
    for (;;) {
      const { done, value } = await patches.next();
      if (done === true) return value === 'done';
      await copy.write(value.bytes, 0, value.bytes.length, value.position);
    }
  } finally {
    await copy.close();
  }
}
