import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { AppError, messageOf } from '../shared/errors.ts';

/** A usable ffmpeg and what it can do. */
export interface FfmpegBuild {
  readonly path: string;
  /** As it names itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  /** How it was found. */
  readonly source: 'setting' | 'path' | 'embedded';
  /** Takes HEVC, AV1 and VP9 in FLV (enhanced RTMP): libavformat 60.16, that is ffmpeg 6.1, or newer. */
  readonly canReadEnhancedFlv: boolean;
  /** For the log: what users of this build miss. */
  readonly lacks: readonly string[];
}

const firstEnhancedFormat = [60, 16] as const;
const firstFormatOfVersion5 = [59, 16] as const;

/**
 * Finds the ffmpeg to use: the one that was set, else one on `searchPath` of version 5 or newer, else the embedded one.
 *
 * @param setPath value of the setting, or undefined
 * @param searchPath value of the environment variable PATH
 * @throws AppError `ffmpeg-unusable` when the one that was set, or every candidate, does not run.
 */
export async function findFfmpeg(
  setPath: string | undefined,
  searchPath: string | undefined,
): Promise<FfmpegBuild> {
  if (setPath !== undefined) {
    try {
      return await inspectFfmpeg(setPath, 'setting');
    } catch (error) {
      throw new AppError('ffmpeg-unusable', `ffmpeg.path: ${setPath} does not run: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
  const failures: string[] = [];
  for (const folder of (searchPath ?? '').split(delimiter).filter(part => part !== '')) {
    const path = join(folder, 'ffmpeg');
    try {
      await access(path, constants.X_OK);
    } catch {
      continue;
    }
    try {
      const build = await inspectFfmpeg(path, 'path');
      if (build.formatVersion >= formatNumber(firstFormatOfVersion5)) return build;
      failures.push(`${path} is older than version 5`);
    } catch (error) {
      failures.push(`${path}: ${messageOf(error)}`);
    }
  }
  try {
    return await inspectFfmpeg(embeddedFfmpegPath(), 'embedded');
  } catch (error) {
    failures.push(`embedded: ${messageOf(error)}`);
    throw new AppError(
      'ffmpeg-unusable',
      `No usable ffmpeg was found (${failures.join('; ')}). Install ffmpeg 5 or newer, or set MILLRACE_FFMPEG_PATH.`,
      { cause: error },
    );
  }
}

/**
 * The build for work that copies H.264 and AAC and decodes nothing: the embedded one, where it is there and the operator has not set
 * another. It is one file without libraries, so that a process of it takes a third of the memory (4 MB against 15 MB).
 */
export async function findCopier(found: FfmpegBuild): Promise<FfmpegBuild> {
  if (found.source !== 'path') return found;
  try {
    return await inspectFfmpeg(embeddedFfmpegPath(), 'embedded');
  } catch {
    return found;
  }
}

/** Where the package keeps its binary for this machine. */
export function embeddedFfmpegPath(): string {
  const require = createRequire(import.meta.url);
  return (require('@ffmpeg-installer/ffmpeg') as { path: string }).path;
}

async function inspectFfmpeg(
  path: string,
  source: FfmpegBuild['source'],
): Promise<FfmpegBuild & { readonly formatVersion: number }> {
  const printed = await run(path, ['-hide_banner', '-version']);
  const version = /^ffmpeg version (\S+)/m.exec(printed)?.[1];
  const format = /^libavformat\s+(\d+)\.\s*(\d+)/m.exec(printed);
  if (version === undefined || format === null) throw new Error('does not answer -version as ffmpeg does');
  const formatVersion = formatNumber([Number(format[1]), Number(format[2])]);
  const canReadEnhancedFlv = formatVersion >= formatNumber(firstEnhancedFormat);
  const lacks: string[] = [];
  if (!canReadEnhancedFlv) lacks.push('HEVC and AV1 over RTMP (needs ffmpeg 6.1)');
  if (formatVersion < formatNumber(firstFormatOfVersion5))
    lacks.push('host names in restream addresses', 'SRT', 'GPU encoders');
  return { path, version, source, canReadEnhancedFlv, lacks, formatVersion };
}

function formatNumber([major, minor]: readonly [number, number]): number {
  return major * 1000 + minor;
}

function run(path: string, args: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(path, args, { timeout: 10_000, maxBuffer: 1024 * 1024, windowsHide: true }, (error, stdout) => {
    if (error === null) resolve(stdout);
    else reject(error);
  });
  return promise;
}
