import { createRequire } from 'node:module';
import {
  type BuildSource,
  findBuild,
  formatNumber,
  formatOfVersion5,
  type InspectedBuild,
  inspectBuild,
} from './find-build.ts';

/** A usable ffmpeg and what it can do. */
export interface FfmpegBuild {
  readonly path: string;
  /** As it names itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  /** How it was found. */
  readonly source: BuildSource;
  /** Takes HEVC, AV1 and VP9 in FLV (enhanced RTMP): libavformat 60.16, that is ffmpeg 6.1, or newer. */
  readonly canReadEnhancedFlv: boolean;
  /** For the log: what users of this build miss. */
  readonly lacks: readonly string[];
}

const firstEnhancedFormat = formatNumber([60, 16]);

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
  return withAbilities(await findBuild('ffmpeg', setPath, searchPath, embeddedFfmpegPath));
}

/**
 * The build for work that copies H.264 and AAC and decodes nothing: the embedded one, where it is there and the operator has not set
 * another. It is one file without libraries, so that a process of it takes a third of the memory (4 MB against 15 MB).
 */
export async function findCopier(found: FfmpegBuild): Promise<FfmpegBuild> {
  if (found.source !== 'path') return found;
  try {
    return withAbilities(await inspectBuild('ffmpeg', embeddedFfmpegPath(), 'embedded'));
  } catch {
    return found;
  }
}

/** Where the package keeps its binary for this machine. */
export function embeddedFfmpegPath(): string {
  const require = createRequire(import.meta.url);
  return (require('@ffmpeg-installer/ffmpeg') as { path: string }).path;
}

function withAbilities({ path, version, source, formatVersion }: InspectedBuild): FfmpegBuild {
  const canReadEnhancedFlv = formatVersion >= firstEnhancedFormat;
  const lacks: string[] = [];
  if (!canReadEnhancedFlv) lacks.push('HEVC and AV1 over RTMP (needs ffmpeg 6.1)');
  if (formatVersion < formatOfVersion5) lacks.push('host names in restream addresses', 'SRT', 'GPU encoders');
  return { path, version, source, canReadEnhancedFlv, lacks };
}
