import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { AppError, messageOf } from '../../shared/errors.ts';
import { childEnvironment, type EnvironmentVariables } from '../process/child-environment.ts';
import type { BuildVersionCache, BuildVersions } from './build-version-cache.ts';
import { executableCopy } from './executable-copy.ts';

export type BuildSource = 'setting' | 'path' | 'embedded' | 'embedded-static';

/** A program as far as it must be known to start it. Without a version, it is taken for one that is not static. */
export type StartedProgram = Pick<ProgramBuild, 'path' | 'source'> & Partial<Pick<ProgramBuild, 'version'>>;

/** Static builds crash when the C library loads a character set converter, as for any MPEG-TS with names. */
export function environmentOf({ source, version }: Omit<StartedProgram, 'path'>): {
  readonly environment?: Readonly<Record<string, string>>;
} {
  const isStatic = source === 'embedded-static' || version?.endsWith('-static') === true;
  return isStatic ? { environment: { GCONV_PATH: '/nonexistent' } } : {};
}

/** Versions as comparable numbers of libavformat. ffmpeg 5 is the oldest version tested with all features. */
export const formatVersionOfFfmpeg5 = formatNumber([59, 16]);
export const formatVersionOfFfmpeg5_1 = formatNumber([59, 27]);
export const formatVersionOfFfmpeg6_1 = formatNumber([60, 16]);

export interface ProgramBuild extends BuildVersions {
  readonly path: string;
  readonly source: BuildSource;
}

interface FoundBuild extends ProgramBuild {
  /** The first build on PATH of version 5 or newer, if the embedded one is preferred because it is newer. */
  readonly older?: ProgramBuild | undefined;
}

interface EmbeddedPrograms {
  /** A build of version 6.1 or newer. Throws where this platform has none. */
  readonly current?: () => string;
  /** A static build, for machines with nothing better. Throws where this platform has none. */
  readonly lastResort: () => string;
}

/**
 * Prefers the configured program, else the first on PATH of version 6.1 or newer, else the current embedded
 * one, else the first on PATH of version 5 or newer, else the newer of an older one there and the last resort.
 * @param copies folder for an embedded program that this user may not execute where it is
 * @throws AppError `ffmpeg-unusable` when the configured one, or every candidate, does not run
 */
export async function findBuild(
  program: 'ffmpeg' | 'ffprobe',
  configuredPath: string | undefined,
  variables: EnvironmentVariables,
  embedded: EmbeddedPrograms,
  known?: BuildVersionCache,
  copies?: string,
): Promise<FoundBuild> {
  const environment = childEnvironment(variables);
  const inspect = async (path: string, source: BuildSource): Promise<ProgramBuild> => {
    const inspectNow = () => inspectBuild(program, path, environment);
    return { path, source, ...(await (known?.versionsOf(path, inspectNow) ?? inspectNow())) };
  };
  if (configuredPath !== undefined) {
    try {
      return await inspect(configuredPath, 'setting');
    } catch (error) {
      throw new AppError(
        'ffmpeg-unusable',
        `${program}.path: ${configuredPath} does not run: ${messageOf(error)}`,
        {
          cause: error,
        },
      );
    }
  }
  const failures: string[] = [];
  const builds: ProgramBuild[] = [];
  for (const path of await findExecutables(program, variables.PATH)) {
    try {
      const build = await inspect(path, 'path');
      if (build.formatVersion >= formatVersionOfFfmpeg6_1) return build;
      builds.push(build);
    } catch (error) {
      failures.push(`${path}: ${messageOf(error)}`);
    }
  }
  const inspectEmbedded = async (find: () => string, source: BuildSource) => {
    try {
      return await inspect(await executableCopy(find(), copies), source);
    } catch (error) {
      failures.push(`${source}: ${messageOf(error)}`);
      return undefined;
    }
  };
  const tested = builds.find(({ formatVersion }) => formatVersion >= formatVersionOfFfmpeg5);
  if (embedded.current !== undefined) {
    const build = await inspectEmbedded(embedded.current, 'embedded');
    if (build !== undefined) return { ...build, older: tested };
  }
  if (tested !== undefined) return tested;
  const lastResort = await inspectEmbedded(embedded.lastResort, 'embedded-static');
  if (lastResort !== undefined) builds.push(lastResort);
  const [newest] = builds.toSorted((one, other) => other.formatVersion - one.formatVersion);
  if (newest !== undefined) return newest;
  throw new AppError(
    'ffmpeg-unusable',
    `No usable ${program} was found (${failures.join('; ')}). Install ffmpeg 5 or newer, or set MILLRACE_${program.toUpperCase()}_PATH.`,
  );
}

/** Finds each program once, although folders can be links to each other. */
export async function findExecutables(program: string, searchPath: string | undefined): Promise<string[]> {
  const found = new Map<string, string>();
  for (const folder of (searchPath ?? '').split(delimiter).filter(part => part !== '')) {
    const path = join(folder, program);
    try {
      await access(path, constants.X_OK);
      const real = await realpath(path);
      if (!found.has(real)) found.set(real, path);
    } catch {}
  }
  return [...found.values()];
}

/** @throws Error when the program does not run, or is another one */
async function inspectBuild(
  program: string,
  path: string,
  environment: Readonly<Record<string, string>>,
): Promise<BuildVersions> {
  const printed = await run(path, ['-hide_banner', '-version'], environment);
  const version = new RegExp(`^${program} version (\\S+)`, 'm').exec(printed)?.[1];
  const format = /^libavformat\s+(\d+)\.\s*(\d+)/m.exec(printed);
  if (version === undefined || format === null)
    throw new Error(`does not answer -version as ${program} does`);
  const configuration = /^configuration: *(.*)$/m.exec(printed)?.[1] ?? '';
  return { version, formatVersion: formatNumber([Number(format[1]), Number(format[2])]), configuration };
}

/** Lists the names of all encoders of a program. */
export async function listEncoders(
  path: string,
  variables: EnvironmentVariables,
): Promise<ReadonlySet<string>> {
  const printed = await run(path, ['-hide_banner', '-encoders'], childEnvironment(variables));
  return new Set([...printed.matchAll(/^ [VAS][A-Z.]{5} (\S+)/gm)].map(([, name = '']) => name));
}

function formatNumber([major, minor]: readonly [number, number]): number {
  return major * 1000 + minor;
}

function run(path: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { timeout: 10_000, maxBuffer: 1024 * 1024, windowsHide: true, env };
  execFile(path, args, options, (error, stdout) => {
    if (error === null) resolve(stdout);
    else reject(error);
  });
  return promise;
}
