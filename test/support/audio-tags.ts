import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FragmentReader } from '../../src/media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../src/media/cmaf/movie-box.ts';
import { readChildBox, readSampleEntry } from '../../src/media/cmaf/sample-entry.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import type { AudioFourCc } from '../../src/media/samples/media-sample.ts';
import { ffmpegPath, runToEnd } from './ffmpeg.ts';
import { sampleTags } from './media-samples.ts';
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
      ...['-f', 'mp4', '-movflags', '+delay_moov+default_base_moof+frag_every_frame', path],
    ]);
    const tags: FlvTag[] = [];
    let track: TrackDescription | undefined;
    const reader = new FragmentReader({
      onInit: ([first]) => {
        track = first!;
        const config = configOf(track);
        if (config !== undefined) tags.push(sampleTags.audioConfig(codec, config, 0));
      },
      onSample: ({ dtsTicks, data }) =>
        tags.push(sampleTags.audio(codec, { dtsMs: (dtsTicks * 1000) / track!.timescale, data })),
    });
    reader.push(await readFile(path));
    return tags;
  } finally {
    await removeDir(folder);
  }
}

/** Returns the configuration as encoders send it: OpusHead, and STREAMINFO behind `fLaC`. AC-3 has none. */
function configOf({ sampleEntry }: TrackDescription): Buffer | undefined {
  const fields = readSampleEntry(sampleEntry, 'audio');
  if (fields.type === 'Opus') {
    const box = readChildBox(sampleEntry, fields, 'dOps');
    box.skip(1);
    const channels = box.u8();
    const [preSkip, inputRate] = [box.u16(), box.u32()];
    const head = Buffer.alloc(19);
    head.write('OpusHead', 'latin1');
    head[8] = 1;
    head[9] = channels;
    head.writeUInt16LE(preSkip, 10);
    head.writeUInt32LE(inputRate, 12);
    return head;
  }
  if (fields.type !== 'fLaC') return undefined;
  const box = readChildBox(sampleEntry, fields, 'dfLa');
  box.skip(4);
  return Buffer.concat([Buffer.from('fLaC'), box.bytes(box.remaining)]);
}

/** Seconds at which beeps begin, to a millisecond. */
export async function beepTimes(media: Buffer): Promise<number[]> {
  const folder = await makeTempDir();
  try {
    const path = join(folder, 'beeps.mp4');
    await writeFile(path, media);
    const loudness = 'astats=metadata=1:reset=1,ametadata=print:key=lavfi.astats.Overall.Peak_level:file=-';
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
