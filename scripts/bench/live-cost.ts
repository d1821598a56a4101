import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nginxMissing, startNginx } from '../../test/support/nginx.ts';
import { type Bench, type BenchContext, makeStream, publishTo, withServer } from './bench-context.ts';
import { processTree, treeCpuSeconds, usageOf, writtenBytes } from './process-usage.ts';
import { readRecording } from './recording.ts';
import { judge, type Row, skipped } from './report.ts';

const name = 'live cost';
const streamCount = 20;
const mebibyte = 1024 * 1024;
/** nginx's HLS has segments as long as ours. */
const nginxHls = (folder: string) =>
  `chunk_size 4096; application s { live on; hls on; hls_path ${folder}; hls_fragment 2s; hls_playlist_length 12s; }`;
const withoutRecording = { MILLRACE_RECORDING_ENABLED: 'false', MILLRACE_LIVE_REWIND: '0' };
const withRecording = { MILLRACE_RECORDING_ENABLED: 'true' };

/** Cost of each of twenty streams. */
interface Cost {
  /** Percent of a core, of all processes of the server. */
  readonly processor: number;
  /** Memory beyond the idle server. */
  readonly pssBytes: number;
  /** Pages that the processes made dirty in files, as a share of the media that was published. */
  readonly writtenShare: number;
  readonly processes: number;
}

/** Processor time, memory and disk writes of twenty streams that nobody watches, beside nginx with plain HLS. */
export const benchLiveCost: Bench = async context => {
  const missing = nginxMissing();
  const nginx = missing === undefined ? await measureNginx(context) : undefined;
  const recorded = await measureMillrace(context, withRecording);
  const live = await measureMillrace(context, withoutRecording);
  return [
    nginx === undefined
      ? skipped(name, 'nginx, plain HLS: processor a stream', missing!)
      : row('nginx, plain HLS: processor a stream', nginx.processor, '% of a core'),
    ...(nginx === undefined
      ? []
      : [
          row('nginx, plain HLS: memory (PSS) a stream beyond idle', nginx.pssBytes / mebibyte, 'MiB'),
          row('nginx, plain HLS: disk writes by media', nginx.writtenShare, '×'),
        ]),
    row('recording and rewind on: processor a stream', recorded.processor, '% of a core'),
    ...ratio('recording and rewind on: processor by nginx', recorded, nginx, 1.5),
    row('recording and rewind on: memory (PSS) a stream beyond idle', recorded.pssBytes / mebibyte, 'MiB', 2),
    row('recording and rewind on: disk writes by media', recorded.writtenShare, '×', 1.05),
    row('recording and rewind on: processes', recorded.processes, ''),
    row('recording and rewind off: processor a stream', live.processor, '% of a core'),
    ...ratio('recording and rewind off: processor by nginx', live, nginx, 1.2),
    row('recording and rewind off: memory (PSS) a stream beyond idle', live.pssBytes / mebibyte, 'MiB'),
  ];
};

function row(what: string, value: number, unit: string, max?: number): Row {
  return judge(name, { what, value, unit, max });
}

function ratio(what: string, cost: Cost, nginx: Cost | undefined, max: number): Row[] {
  return nginx === undefined
    ? []
    : [judge(name, { what, value: cost.processor / nginx.processor, unit: '×', max, better: 'lower' })];
}

async function measureNginx(context: BenchContext): Promise<Cost> {
  const folder = await mkdtemp(join(context.folder, 'nginx-'));
  const nginx = await startNginx({ folder, rtmp: nginxHls(join(folder, 'hls')) });
  try {
    const names = Array.from({ length: streamCount }, (_, index) => `stream${index}`);
    return await measure(context, nginx.pid, nginx.rtmpPort, names);
  } finally {
    await nginx.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function measureMillrace(context: BenchContext, env: Readonly<Record<string, string>>): Promise<Cost> {
  return withServer(context, env, async server => {
    const streams = [];
    for (let index = 0; index < streamCount; index += 1) streams.push(await makeStream(server));
    const keys = streams.map(stream => stream.streamKey);
    return measure(context, server.child.pid!, server.rtmpPort, keys);
  });
}

async function measure(
  context: BenchContext,
  pid: number,
  rtmpPort: number,
  streamKeys: readonly string[],
): Promise<Cost> {
  await sleep(3000);
  const idleBytes = usageOf(processTree(pid)).pssBytes;
  const publisher = publishTo(context, rtmpPort, streamKeys, { staggerMs: 97 });
  await publisher.report(report => report.kind === 'all-started');
  // Starts cost more than what follows, and the media that is held grows at first.
  await sleep(context.isShort ? 10_000 : 60_000);
  const before = { cpuSeconds: treeCpuSeconds(pid), writtenBytes: writtenBytes(processTree(pid)) };
  const fromMs = performance.now();
  const samples = context.isShort ? 4 : 12;
  let pssBytes = 0;
  for (let count = 0; count < samples; count += 1) {
    await sleep(5000);
    pssBytes += usageOf(processTree(pid)).pssBytes / samples;
  }
  const seconds = (performance.now() - fromMs) / 1000;
  const tree = processTree(pid);
  const cpuSeconds = treeCpuSeconds(pid) - before.cpuSeconds;
  const written = writtenBytes(tree) - before.writtenBytes;
  await publisher.stop();
  return {
    processor: (100 * cpuSeconds) / seconds / streamCount,
    pssBytes: (pssBytes - idleBytes) / streamCount,
    writtenShare: written / (seconds * streamCount * (await mediaBytesPerSecond(context))),
    processes: tree.length,
  };
}

async function mediaBytesPerSecond({ recordingPath }: BenchContext): Promise<number> {
  const { frames, loopMs } = await readRecording(recordingPath);
  return frames.reduce((sum, { body }) => sum + body.length, 0) / (loopMs / 1000);
}
