import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { encodeArguments } from '../../src/ffmpeg/encode-arguments.ts';
import { ladderOf, type Rung } from '../../src/vod/rungs.ts';
import { type Bench, type BenchContext, withServer } from './bench-context.ts';
import { treeCpuSeconds } from './process-usage.ts';
import { judge } from './report.ts';
import { VideoClient, videoServerEnv } from './video-client.ts';

const name = 'encode';
const run = promisify(execFile);
const picture = { width: 1280, height: 720 };
const preset = 'veryfast';
/** Those of one encode on a machine where one is made at a time. */
const threads = availableParallelism();
const pollMs = 50;

interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/**
 * What it costs that the lowest quality is made first, by itself, and shown while it grows: all that the server does with a film of
 * 720p that must be encoded, beside one command that makes the same qualities with the same settings.
 */
export const benchEncode: Bench = async context => {
  const seconds = context.isShort ? 20 : 60;
  const film = join(context.folder, 'encode.mp4');
  await run(context.ffmpeg.path, [
    ...['-hide_banner', '-loglevel', 'error', '-y'],
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-t', String(seconds)],
    ...['-c:v', 'mpeg4', '-b:v', '6M', '-c:a', 'aac', '-b:a', '128k', film],
  ]);
  // Before and after: what else the machine does changes meanwhile.
  const ladder = ladderOf(picture);
  const before = await encodePlainly(context, film, ladder, true);
  const { first, ...ours } = await encodeInServer(context, film);
  const after = await encodePlainly(context, film, ladder, true);
  const lowest = await encodePlainly(context, film, ladder.slice(0, 1), true);
  const rest = await encodePlainly(context, film, ladder.slice(1), false);
  const plain = {
    seconds: (before.seconds + after.seconds) / 2,
    cpuSeconds: (before.cpuSeconds + after.cpuSeconds) / 2,
  };
  return [
    judge(name, {
      what: `one command for all qualities of ${seconds} s of 720p`,
      value: plain.seconds,
      unit: 's',
    }),
    judge(name, { what: 'upload answered to all qualities', value: ours.seconds, unit: 's' }),
    judge(name, {
      what: 'that is, of what the command takes',
      value: ours.seconds / plain.seconds,
      unit: '×',
      atMost: 1.1,
    }),
    judge(name, {
      what: 'processor time of two commands, the lowest quality by itself, of what one takes',
      value: (lowest.cpuSeconds + rest.cpuSeconds) / plain.cpuSeconds,
      unit: '×',
      atMost: 1.1,
    }),
    judge(name, {
      what: 'processor time of the server, pictures and requests included, of what one command takes',
      value: ours.cpuSeconds / plain.cpuSeconds,
      unit: '×',
    }),
    judge(name, { what: 'upload answered to playable', value: first, unit: 's' }),
  ];
};

async function encodeInServer(context: BenchContext, film: string): Promise<Cost & { first: number }> {
  const env = { ...videoServerEnv, MILLRACE_ENCODE_PRESET: preset, MILLRACE_ENCODE_JOBS: '1' };
  return await withServer(context, env, async server => {
    const client = new VideoClient(server);
    const videoId = await client.create({ mp4Support: false });
    const pid = server.child.pid!;
    const cpuBefore = treeCpuSeconds(pid);
    const { answered } = await client.upload(videoId, film);
    const fromMs = await answered;
    let first: number | undefined;
    for (;;) {
      const { encoding } = await client.status(videoId);
      if (encoding.playable) first ??= (performance.now() - fromMs) / 1000;
      const { qualities } = encoding;
      if (qualities.length > 0 && qualities.every(({ status }) => status === 'encoded')) break;
      await sleep(pollMs);
    }
    const seconds = (performance.now() - fromMs) / 1000;
    return { seconds, cpuSeconds: treeCpuSeconds(pid) - cpuBefore, first: first ?? seconds };
  });
}

/** With the priority that the server gives its encoders, and in the fragments that it delivers. */
async function encodePlainly(
  context: BenchContext,
  film: string,
  rungs: readonly Rung[],
  hasAudio: boolean,
): Promise<Cost> {
  const folder = join(context.folder, 'encode');
  await mkdir(folder, { recursive: true });
  const args = encodeArguments({
    source: film,
    folder,
    video: {
      index: 0,
      ...picture,
      isInterlaced: false,
      toneMapFrom: undefined,
      isTooFast: false,
      rungs,
      keyframesAtSeconds: 'every-two',
      overlays: [],
    },
    audioIndex: hasAudio ? 1 : undefined,
    timedBy: [0, 1],
    clip: undefined,
    preset,
    threads,
  });
  const cpuBefore = treeCpuSeconds(process.pid);
  const fromMs = performance.now();
  await run('nice', [
    '-n',
    '10',
    context.ffmpeg.path,
    '-hide_banner',
    '-nostdin',
    '-loglevel',
    'error',
    ...args,
  ]);
  return {
    seconds: (performance.now() - fromMs) / 1000,
    cpuSeconds: treeCpuSeconds(process.pid) - cpuBefore,
  };
}
