import { open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceClock } from '../../ffmpeg/arguments/encode-options.ts';
import {
  speechCommand,
  speechFlacCommand,
  speechSampleRate,
} from '../../ffmpeg/arguments/speech-commands.ts';
import { steadyAudioCommand } from '../../ffmpeg/arguments/steady-audio-command.ts';
import type { RunOptions } from '../../ffmpeg/media-tools.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { runLimitsFor, type VodContext } from '../vod-context.ts';

export interface SpeechSource {
  readonly path: string;
  readonly index: number;
  readonly rightIndex: number | undefined;
  readonly timedBy: readonly number[];
  readonly clock: SourceClock;
  /** Start of the video in the source. */
  readonly startSeconds: number;
}

/** Speech from the start of the video. */
interface SpeechChunk {
  readonly flac: Buffer;
  readonly startMs: number;
  readonly endMs: number;
}

const bytesPerMs = (speechSampleRate * 2) / 1000;
/** A chunk ends at the quietest place in its last part. */
const searchedMs = 30_000;
const windowMs = 200;

/** Returns undefined at the end of the audio. */
export async function readSpeechChunk(
  context: VodContext,
  job: RunningJob,
  source: SpeechSource,
  {
    startMs,
    maxMs,
    isLast,
    folder,
  }: {
    readonly startMs: number;
    readonly maxMs: number;
    /** True for the last chunk. Otherwise, a chunk is the last one when the audio ends before. */
    readonly isLast: boolean;
    readonly folder: string;
  },
): Promise<SpeechChunk | undefined> {
  const pcm = join(folder, 'speech.pcm');
  const steadyPath = join(folder, 'speech.mka');
  const flacPath = join(folder, 'speech.flac');
  const options: RunOptions = {
    limits: runLimitsFor(context, maxMs / 1000, 4 * bytesPerMs * maxMs + 1024 ** 2),
    signal: job.signal,
    purpose: 'speech',
    ids: { videoId: job.subjectId },
    isPausable: true,
  };
  const { path, index, rightIndex, timedBy, clock } = source;
  const sides = [index, rightIndex].filter(side => side !== undefined);
  const part = {
    source: path,
    clock,
    fromSeconds: source.startSeconds + startMs / 1000,
    lengthSeconds: maxMs / 1000,
  };
  const tracks = sides.map(side => ({ index: side, channels: 1 }));
  const steady = { tracks, sampleRate: speechSampleRate, timedBy, output: steadyPath };
  await context.tools.runCommand(steadyAudioCommand(part, steady), options);
  const streams = sides.map((_, side) => side + 1);
  await context.tools.runCommand(speechCommand(steadyPath, pcm, streams), options);
  await rm(steadyPath);
  const lengthMs = Math.floor((await stat(pcm)).size / bytesPerMs);
  if (lengthMs < windowMs) return undefined;
  const hasEnded = isLast || lengthMs < maxMs - windowMs;
  const durationMs = hasEnded ? lengthMs : await quietEndOf(pcm, lengthMs);
  await context.tools.runCommand(speechFlacCommand(pcm, flacPath, durationMs / 1000), options);
  const flac = await readFile(flacPath);
  await Promise.all([rm(pcm), rm(flacPath)]);
  return { flac, startMs, endMs: startMs + durationMs };
}

async function quietEndOf(pcm: string, lengthMs: number): Promise<number> {
  const fromMs = Math.max(lengthMs - searchedMs, Math.ceil(lengthMs / 2));
  const bytes = Buffer.alloc(Math.floor((lengthMs - fromMs) * bytesPerMs));
  await using file = await open(pcm);
  await file.read(bytes, 0, bytes.length, Math.floor(fromMs * bytesPerMs));
  return fromMs + quietestMs(new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1));
}

/** The middle of the quietest window; of several, the last. */
export function quietestMs(samples: Int16Array): number {
  const window = (speechSampleRate * windowMs) / 1000;
  const step = window / 2;
  let quietest = { energy: Number.POSITIVE_INFINITY, at: samples.length };
  for (let start = 0; start + window <= samples.length; start += step) {
    let energy = 0;
    for (let at = start; at < start + window; at++) energy += Math.abs(samples[at]!);
    if (energy <= quietest.energy) quietest = { energy, at: start + window / 2 };
  }
  return Math.round((quietest.at * 1000) / speechSampleRate);
}
