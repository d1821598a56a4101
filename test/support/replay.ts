import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { ffmpegPath, runToEnd } from './ffmpeg.ts';
import { type RtmpClient, readFlvTags } from './rtmp-client.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';

/** Content of a recording; each part can be changed. */
export interface RecordOptions {
  readonly seconds: number;
  readonly gopSeconds?: number;
  readonly fps?: number;
  readonly size?: string;
  /** Codecs and what else ffmpeg is told, after the usual ones. */
  readonly extraArgs?: readonly string[];
}

/** Records a test picture as FLV tags, faster than real time. */
export async function recordTags(options: RecordOptions): Promise<FlvTag[]> {
  const { seconds, gopSeconds = 1, fps = 25, size = '160x90', extraArgs = [] } = options;
  const folder = await makeTempDir();
  try {
    const path = join(folder, 'source.flv');
    const gop = String(Math.round(gopSeconds * fps));
    await runToEnd(ffmpegPath, [
      ...['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${fps}`],
      ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-t', String(seconds)],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
      ...['-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-c:a', 'aac', '-b:a', '64k'],
      ...[...extraArgs, '-f', 'flv', path],
    ]);
    return readFlvTags(await readFile(path));
  } finally {
    await removeDir(folder);
  }
}

/** Options that choose tags, times and timestamps. */
export interface ReplayOptions {
  /** The timestamp to send; by default the recorded one. */
  readonly timestampOf?: (tag: FlvTag, index: number) => number;
  /** Speed of the replay, 1 unless given. */
  readonly speed?: number;
  /** Begins this far into the recording; configuration and metadata are sent all the same. */
  readonly fromMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Sends tags at the pace of their recorded times, and returns once the server has read them: a request that ends the broadcast could
 * overtake them, and a reset throws them away. Ends early when the connection is closed.
 */
export async function replay(
  client: RtmpClient,
  tags: readonly FlvTag[],
  options: ReplayOptions = {},
): Promise<void> {
  const { timestampOf = (tag: FlvTag) => tag.timestampMs, speed = 1, fromMs = 0, signal } = options;
  const startedMs = performance.now();
  for (const [index, tag] of tags.entries()) {
    const isSetup = tag.kind === 'script' || tag.body[1] === 0;
    if (tag.timestampMs < fromMs && !isSetup) continue;
    const dueMs = (Math.max(tag.timestampMs, fromMs) - fromMs) / speed;
    const leftMs = dueMs - (performance.now() - startedMs);
    if (leftMs > 2) await sleep(leftMs);
    if (client.isClosed || signal?.aborted) return;
    client.sendTag(tag.kind, timestampOf(tag, index), tag.body);
  }
  await client.roundTrips(1).catch((error: unknown) => {
    if (!client.isClosed) throw error;
  });
}
