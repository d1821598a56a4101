import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { AppError, messageOf } from '../shared/errors.ts';

/** How a program was found. */
export type BuildSource = 'setting' | 'path' | 'embedded';

/**
 * What a program of this source needs in its environment to be started; nothing where it gets that of this process. The embedded builds are
 * static: they crash where the C library loads a converter of texts, so they are to find none.
 */
export function environmentOf({ source }: { readonly source: BuildSource }): {
  readonly environment?: Readonly<Record<string, string>>;
} {
  return source === 'embedded' ? { environment: { GCONV_PATH: '/nonexistent' } } : {};
}

/** A version of libavformat, comparable as a number: 59.16 is 59016. That of ffmpeg 5 is the first that is taken from PATH. */
export const formatOfVersion5 = formatNumber([59, 16]);

/** A program of the ffmpeg project and what it says of itself. */
export interface InspectedBuild {
  readonly path: string;
  /** As it names itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  readonly source: BuildSource;
  /** Of libavformat, as {@link formatNumber} gives it. */
  readonly formatVersion: number;
}

/**
 * Finds a program: the one that was set, else one on `searchPath` of version 5 or newer, else the embedded one.
 *
 * @param program its name, which is also that of its setting
 * @param setPath value of the setting, or undefined
 * @param searchPath value of the environment variable PATH
 * @param embeddedPath gives the path of the embedded one, or throws when there is none
 * @throws AppError `ffmpeg-unusable` when the one that was set, or every candidate, does not run
 */
export async function findBuild(
  program: 'ffmpeg' | 'ffprobe',
  setPath: string | undefined,
  searchPath: string | undefined,
  embeddedPath: () => string,
): Promise<InspectedBuild> {
  if (setPath !== undefined) {
    try {
      return await inspectBuild(program, setPath, 'setting');
    } catch (error) {
      throw new AppError('ffmpeg-unusable', `${program}.path: ${setPath} does not run: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
  const failures: string[] = [];
  for (const folder of (searchPath ?? '').split(delimiter).filter(part => part !== '')) {
    const path = join(folder, program);
    try {
      await access(path, constants.X_OK);
    } catch {
      continue;
    }
    try {
      const build = await inspectBuild(program, path, 'path');
      if (build.formatVersion >= formatOfVersion5) return build;
      failures.push(`${path} is older than version 5`);
    } catch (error) {
      failures.push(`${path}: ${messageOf(error)}`);
    }
  }
  try {
    return await inspectBuild(program, embeddedPath(), 'embedded');
  } catch (error) {
    failures.push(`embedded: ${messageOf(error)}`);
    throw new AppError(
      'ffmpeg-unusable',
      `No usable ${program} was found (${failures.join('; ')}). Install ffmpeg 5 or newer, or set MILLRACE_${program.toUpperCase()}_PATH.`,
      { cause: error },
    );
  }
}

/**
 * Asks a program for its version.
 *
 * @throws Error when it does not run, or is another program
 */
export async function inspectBuild(
  program: string,
  path: string,
  source: BuildSource,
): Promise<InspectedBuild> {
  const printed = await run(path, ['-hide_banner', '-version']);
  const version = new RegExp(`^${program} version (\\S+)`, 'm').exec(printed)?.[1];
  const format = /^libavformat\s+(\d+)\.\s*(\d+)/m.exec(printed);
  if (version === undefined || format === null)
    throw new Error(`does not answer -version as ${program} does`);
  return { path, version, source, formatVersion: formatNumber([Number(format[1]), Number(format[2])]) };
}

/** A version as a number that can be compared. */
export function formatNumber([major, minor]: readonly [number, number]): number {
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
