import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import type { AudioFourCc } from '../../src/media/samples/media-sample.ts';
import { ffmpegPath, runToEnd } from './ffmpeg.ts';
import { framesInMp4, readAudioTags } from './read-audio-tags.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';

/** A beep of 100 ms at each second. */
const beeps = "aevalsrc='0.5*sin(2*PI*1000*t)*lt(mod(t,1),0.1)':sample_rate=48000";

/** Encodes beeps, and makes tags of Enhanced RTMP of them. */
export async function recordAudioTags(
  codec: AudioFourCc,
  seconds: number,
  args: readonly string[],
): Promise<FlvTag[]> {
  const folder = await makeTempDir();
  try {
    const path = join(folder, 'audio.mp4');
    await runToEnd(ffmpegPath, [
      ...['-v', 'error', '-f', 'lavfi', '-i', beeps, '-t', String(seconds), ...args, '-strict', '-2'],
      ...[...framesInMp4, path],
    ]);
    return readAudioTags(codec, await readFile(path));
  } finally {
    await removeDir(folder);
  }
}

/** Seconds at which beeps begin, to a millisecond. */
export async function beepTimes(media: Buffer): Promise<number[]> {
  const folder = await makeTempDir();
  try {
    const path = join(folder, 'beeps.mp4');
    await writeFile(path, media);
    const loudness =
      'astats=metadata=1:reset=1:measure_perchannel=none:measure_overall=Peak_level,ametadata=print:key=lavfi.astats.Overall.Peak_level:file=-';
    const text = await runToEnd(ffmpegPath, [
      ...['-v', 'error', '-copyts', '-i', path, '-ac', '1', '-af', `asetnsamples=48,${loudness}`],
      ...['-f', 'null', '-'],
    ]);
    const times: number[] = [];
    let isLoud = false;
    for (const [, time, level] of text.matchAll(/pts_time:([\d.]+)\s+lavfi\.\S+=(\S+)/g)) {
      const peak = Number(level);
      if (!isLoud && peak > -20) {
        isLoud = true;
        times.push(Number(time));
      } else if (peak < -40 || level === '-inf') isLoud = false;
    }
    return times;
  } finally {
    await removeDir(folder);
  }
}
