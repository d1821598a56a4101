import { constants, copyFile, open } from 'node:fs/promises';
import { findOpenEndedEdits } from '../../media/cmaf/open-ended-edits.ts';
import { findNegativeTicks, shiftTimes } from '../../media/matroska/shift-times.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import { readerOf } from '../index/index-progressive.ts';
import type { VodContext } from '../vod-context.ts';

const maxSliceMs = 5;

/**
 * Calls `work` with the local source of a video. A file that ffmpeg would read wrongly is replaced by a copy: Matroska with times
 * below zero, which ffmpeg would lose, begins at zero, and MP4 with an edit up to the end has the duration of it.
 */
export async function withSource<Result>(
  context: VodContext,
  videoId: string,
  work: (path: string) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const { files, mendedSources, settings, log } = context;
  return files.storage.withLocal(
    files.source(videoId),
    async path => {
      const source = await open(path, 'r');
      try {
        const readAt = readerOf(source);
        const { size, ino, mtimeMs } = await source.stat();
        const slice = new TimeSlice(maxSliceMs, signal);
        const earliest = await findNegativeTicks(readAt, slice);
        const edits = earliest < 0 ? [] : await findOpenEndedEdits(readAt, size);
        if (earliest === 0 && edits.length === 0) return await work(path);
        const make = async (copy: string) => {
          await files.ensureFreeSpace(size, settings.minFreeBytes);
          await copyFile(path, copy, constants.COPYFILE_FICLONE);
          // Not of one job: others wait for the copy, too.
          const patches =
            earliest < 0 ? shiftTimes(readAt, -earliest, new TimeSlice(maxSliceMs)) : yieldAll(edits);
          if (await patchFile(copy, patches)) return;
          log.warn('negative-times-not-shifted', { videoId, earliest });
          await copyFile(path, copy, constants.COPYFILE_FICLONE);
        };
        const key = [videoId, ino, size, mtimeMs].join();
        return await mendedSources.use(key, make, work);
      } finally {
        await source.close();
      }
    },
    signal,
  );
}

async function* yieldAll(patches: Awaited<ReturnType<typeof findOpenEndedEdits>>) {
  yield* patches;
  return 'done' as const;
}

/** Returns false when a time cannot be changed. */
async function patchFile(path: string, patches: ReturnType<typeof shiftTimes>): Promise<boolean> {
  const copy = await open(path, 'r+');
  try {
    for (;;) {
      const { done, value } = await patches.next();
      if (done === true) return value === 'done';
      await copy.write(value.bytes, 0, value.bytes.length, value.position);
    }
  } finally {
    await copy.close();
  }
}
