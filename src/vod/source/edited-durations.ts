import { open } from 'node:fs/promises';
import type { MediaTools, ProbedFile } from '../../ffmpeg/media-tools.ts';
import { readFragmentedStart } from '../../media/cmaf/fragmented-start.ts';
import { AppError } from '../../shared/errors.ts';
import { readFully } from '../../storage/read-fully.ts';
import { isMp4 } from './passthrough.ts';

const maxHeadBytes = 256 * 1024;
/** Earliest start that counts: earlier ones are B-frames and encoder priming. */
const minStartSeconds = 0.1;

/**
 * Corrects durations of fragmented files whose edit lists begin later than their media, as those of recordings do:
 * ffprobe measures them from media time 0.
 */
export function withEditedDurations(tools: MediaTools): MediaTools {
  return {
    probe: async (path, signal) => {
      const probed = await tools.probe(path, signal);
      const startSeconds = isMp4(probed) ? await fragmentedStart(path) : 0;
      return startSeconds < minStartSeconds ? probed : shortened(probed, startSeconds);
    },
    sizeOfImage: (path, signal) => tools.sizeOfImage(path, signal),
    runCommand: (build, options) => tools.runCommand(build, options),
  };
}

async function fragmentedStart(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return readFragmentedStart(Buffer.from(await readFully(handle, 0, Math.min(size, maxHeadBytes))));
  } catch (error) {
    if (error instanceof AppError) return 0;
    throw error;
  } finally {
    await handle.close();
  }
}

function shortened(probed: ProbedFile, bySeconds: number): ProbedFile {
  const change = <Part extends { readonly durationSeconds?: number; readonly bitsPerSecond?: number }>(
    part: Part,
  ): Part => {
    const { durationSeconds, bitsPerSecond } = part;
    if (durationSeconds === undefined || durationSeconds <= bySeconds) return part;
    const own = durationSeconds - bySeconds;
    const share = durationSeconds / own;
    return {
      ...part,
      durationSeconds: own,
      ...(bitsPerSecond === undefined ? {} : { bitsPerSecond: Math.round(bitsPerSecond * share) }),
    };
  };
  return { ...change(probed), streams: probed.streams.map(change) };
}
