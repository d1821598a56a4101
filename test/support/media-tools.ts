import { findFfmpeg, findFfprobe } from '../../src/ffmpeg/build/find-ffmpeg.ts';
import { FfmpegTools, type FfmpegToolsOptions } from '../../src/ffmpeg/ffmpeg-tools.ts';
import type { RunLimits } from '../../src/ffmpeg/media-tools.ts';
import type { ProcessOwner } from '../../src/ffmpeg/process/owned-process.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { encodeTimeoutMs } from './deadlines.ts';
import {
  buildCount,
  embeddedFfprobePath,
  ffmpegBuild,
  ffprobePath,
  outdatedFfmpeg,
  serverFfmpeg,
} from './ffmpeg.ts';
import { makeProcessOwner } from './process-limits.ts';

/** Limits that no test media comes near. */
export const ampleLimits: RunLimits = {
  timeoutMs: encodeTimeoutMs,
  memoryBytes: 4 * 2 ** 30,
  outputBytes: 2 ** 30,
};

/** The programs of a build. */
export interface ToolBuilds {
  readonly name: string;
  readonly ffmpeg: FfmpegToolsOptions['ffmpeg'];
  readonly ffprobe: FfmpegToolsOptions['ffprobe'];
}

const outdated: ToolBuilds = {
  name: 'outdated',
  ffmpeg: { path: outdatedFfmpeg, source: 'embedded-static' },
  ffprobe: { path: embeddedFfprobePath, source: 'embedded-static' },
};

/** The programs that a server finds, the newest, and the oldest (`describe.each`). */
export const toolBuilds: readonly ToolBuilds[] = (
  ffmpegBuild.isOutdated
    ? [outdated]
    : [
        ...[...new Set([serverFfmpeg, ffmpegBuild])].map(
          (ffmpeg): ToolBuilds => ({
            name: ffmpeg === serverFfmpeg ? "server's" : 'newest',
            ffmpeg,
            // The programs of the packages go together.
            ffprobe: ffmpeg === serverFfmpeg ? { path: ffprobePath, source: 'path' } : outdated.ffprobe,
          }),
        ),
        outdated,
      ]
).slice(0, buildCount);

/** The programs that the servers of the test's project use. */
const usualBuilds: ToolBuilds =
  process.env.MILLRACE_FFMPEG_PATH === undefined
    ? toolBuilds[0]!
    : {
        name: 'usual',
        ffmpeg: await findFfmpeg(process.env.MILLRACE_FFMPEG_PATH, process.env),
        ffprobe: await findFfprobe(process.env.MILLRACE_FFPROBE_PATH, process.env),
      };

/** Tools on a build, with the owner of their processes. */
export function makeMediaTools(
  builds: ToolBuilds = usualBuilds,
  options: Partial<FfmpegToolsOptions> = {},
): FfmpegTools & { readonly owner: ProcessOwner } {
  const owner = options.owner ?? makeProcessOwner(options.log);
  const tools = new FfmpegTools({
    ...builds,
    owner,
    probeLimits: ampleLimits,
    maxPixels: 35_389_440,
    maxImagePixels: 0,
    // Encodes of a lower priority get almost nothing of a machine that is busy with something else.
    niceness: 0,
    log: silentLogger,
    ...options,
  });
  return Object.assign(tools, { owner });
}
