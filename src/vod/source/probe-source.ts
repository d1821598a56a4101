import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { VodContext } from '../vod-context.ts';

/** Looks into a source, with ffprobe only where {@link describePlain} cannot. @throws as `MediaTools.probe` */
export async function probeSource(
  context: VodContext,
  path: string,
  signal: AbortSignal,
): Promise<ProbedFile> {
  return (await describePlain(context, path, signal)) ?? context.tools.probe(path, signal);
}

/** Describes a plain MP4, which is neither encrypted nor mixed, far faster than a process does. Undefined for other files. */
export async function describePlain(
  { indexWorkers, settings }: VodContext,
  path: string,
  signal: AbortSignal,
): Promise<ProbedFile | undefined> {
  const plain = await indexWorkers.describe(path, signal);
  const isSmall = plain?.streams.every(({ width = 0, height = 0 }) => width * height <= settings.maxPixels);
  return isSmall === true ? plain : undefined;
}
