import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Encoded once and repeated: a whole number of GOPs, and of AAC frames within a hundredth of one. */
const takeSeconds = 64;

/** A film as encoders of cameras and editors write it: H.264 with B-frames, 720p30 with 2.5 Mbit/s, and 128 kbit/s AAC. */
export interface FilmOrder {
  readonly seconds: number;
  /** Where the file says what is in it: players that download begin sooner with it in front; most encoders write it last. */
  readonly index: 'in front' | 'at the end';
}

/** Makes the piece that {@link makeFilm} repeats. */
export async function makeTake(ffmpeg: string, path: string): Promise<void> {
  await run(ffmpeg, [
    ...['-hide_banner', '-loglevel', 'error', '-y'],
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-t', String(takeSeconds)],
    ...['-c:v', 'libx264', '-preset', 'superfast', '-pix_fmt', 'yuv420p', '-bf', '2', '-g', '60'],
    ...['-b:v', '2500k', '-minrate', '2500k', '-maxrate', '2500k', '-bufsize', '2500k', '-nal-hrd', 'cbr'],
    ...['-c:a', 'aac', '-b:a', '128k', '-f', 'matroska', path],
  ]);
}

/** Makes a film of any length out of the take in seconds, without encoding. */
export async function makeFilm(
  ffmpeg: string,
  takePath: string,
  folder: string,
  { seconds, index }: FilmOrder,
): Promise<string> {
  const path = join(folder, `film-${seconds}-${index.replaceAll(' ', '-')}.mp4`);
  const list = `${path}.txt`;
  const takes = Math.ceil(seconds / takeSeconds);
  await writeFile(list, Array.from({ length: takes }, () => `file '${takePath}'\n`).join(''));
  await run(ffmpeg, [
    ...['-hide_banner', '-loglevel', 'error', '-y', '-f', 'concat', '-safe', '0', '-i', list],
    ...[
      '-t',
      String(seconds),
      '-c',
      'copy',
      ...(index === 'in front' ? ['-movflags', '+faststart'] : []),
      path,
    ],
  ]);
  return path;
}
