import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { startListener } from '../../test/support/nginx.ts';
import {
  type Bench,
  type BenchContext,
  HelperProcess,
  makeStream,
  publishTo,
  withServer,
} from './bench-context.ts';
import { treeCpuSeconds } from './process-usage.ts';
import { makeOpusRecording } from './recording.ts';
import { judge, type Row, skipped } from './report.ts';
import type { WhepViewersOrder, WhepViewersReport } from './whep-viewers-process.ts';

const name = 'WHEP viewers';
const counts = [10, 20, 50];
const env = {
  MILLRACE_RECORDING_ENABLED: 'false',
  MILLRACE_LIVE_REWIND: '0',
  MILLRACE_WHEP_MAX_VIEWERS: '1000',
};

/** A server that delivers one stream. */
interface Source {
  readonly pid: number;
  readonly whepUrl: string;
}

interface Cost {
  readonly viewers: number;
  /** Percent of a core for one viewer, beyond the stream without viewers. */
  readonly processor: number;
  readonly packetsPerSecond: number;
  readonly lostShare: number;
}

/** Processor time of each viewer over WebRTC, beside MediaMTX where `MEDIAMTX_PATH` names its binary: at the same time, so that other work meets both. */
export const benchWhep: Bench = async context => {
  const recordingPath = join(context.folder, 'opus.flv');
  await makeOpusRecording(context.ffmpeg.path, context.recordingPath, recordingPath);
  const own: BenchContext = { ...context, recordingPath };
  const mediaMtx = process.env.MEDIAMTX_PATH;
  const [costs, others] = await withMillrace(own, source =>
    mediaMtx === undefined
      ? measure(own, [source])
      : withMediaMtx(own, mediaMtx, other => measure(own, [source, other])),
  );
  const last = costs!.at(-1)!;
  return [
    ...costs!.flatMap(cost => rowsOf('Millrace', cost, cost === last ? 0.5 : undefined)),
    ...(others === undefined
      ? [skipped(name, 'MediaMTX: processor a viewer', 'MEDIAMTX_PATH is not set')]
      : [
          ...others.flatMap(cost => rowsOf('MediaMTX', cost)),
          ...costs!.map((cost, index) =>
            judge(name, {
              what: `${cost.viewers} viewers: processor by MediaMTX`,
              value: cost.processor / others[index]!.processor,
              unit: '×',
              max: 1,
            }),
          ),
        ]),
  ];
};

function rowsOf(server: string, cost: Cost, max?: number): Row[] {
  const row = (what: string, value: number, unit: string, limit?: number) =>
    judge(name, { what: `${server}, ${cost.viewers} viewers: ${what}`, value, unit, max: limit });
  return [
    row('processor a viewer', cost.processor, '% of a core', max),
    row('packets a second and viewer', Math.round(cost.packetsPerSecond), ''),
    row('packets lost', 100 * cost.lostShare, '%'),
  ];
}

function withMillrace<Result>(
  context: BenchContext,
  work: (source: Source) => Promise<Result>,
): Promise<Result> {
  return withServer(context, env, async server => {
    const { liveStreamId, streamKey } = await makeStream(server, { ultraLowLatency: true });
    const publisher = publishTo(context, server.rtmpPort, [streamKey]);
    await publisher.report(({ kind }) => kind === 'all-started');
    const whepUrl = `${server.baseUrl}/whep/${liveStreamId}`;
    const result = await work({ pid: server.child.pid!, whepUrl });
    await publisher.stop();
    return result;
  });
}

/** Listens to loopback only, and does nothing that viewers over WebRTC do not need. */
async function withMediaMtx<Result>(
  context: BenchContext,
  program: string,
  work: (source: Source) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(context.folder, 'mediamtx-'));
  const [rtmpPort, httpPort, udpPort] = [await freePort(), await freePort(), await freePort()];
  const off = ['api', 'metrics', 'pprof', 'playback', 'rtsp', 'hls', 'srt', 'moq'];
  const path = join(folder, 'mediamtx.yml');
  const settings = [
    'logLevel: error',
    ...off.map(protocol => `${protocol}: false`),
    `rtmpAddress: 127.0.0.1:${rtmpPort}`,
    `webrtcAddress: 127.0.0.1:${httpPort}`,
    `webrtcLocalUDPAddress: 127.0.0.1:${udpPort}`,
    'webrtcIPsFromInterfaces: false',
    'webrtcAdditionalHosts: [127.0.0.1]',
    'paths: { all_others: {} }',
  ];
  await writeFile(path, settings.join('\n'));
  const server = await startListener(program, [path], rtmpPort);
  try {
    const publisher = publishTo(context, rtmpPort, ['stream']);
    await publisher.report(({ kind }) => kind === 'all-started');
    const whepUrl = `http://127.0.0.1:${httpPort}/s/stream/whep`;
    const result = await work({ pid: server.pid, whepUrl });
    await publisher.stop();
    return result;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the costs of each source, for all counts of viewers */
async function measure(context: BenchContext, sources: readonly Source[]): Promise<Cost[][]> {
  const seconds = context.isShort ? 10 : 30;
  await sleep(5_000);
  const without = await processorOf(sources, seconds);
  const costs: Cost[][] = sources.map(() => []);
  for (const viewers of context.isShort ? counts.slice(1, 2) : counts) {
    const crowds = sources.map(({ whepUrl }) => {
      const order: WhepViewersOrder = { url: whepUrl, viewers };
      return new HelperProcess<WhepViewersReport>('./whep-viewers-process.ts', order);
    });
    await Promise.all(crowds.map(crowd => crowd.report()));
    await sleep(3_000);
    const before = await Promise.all(crowds.map(state));
    const fromMs = performance.now();
    const used = await processorOf(sources, seconds);
    const after = await Promise.all(crowds.map(state));
    const tookSeconds = (performance.now() - fromMs) / 1_000;
    await Promise.all(crowds.map(crowd => crowd.stop()));
    for (const index of sources.keys()) {
      const [from, to] = [before[index]!, after[index]!];
      if (to.forged > 0) throw new Error(`${to.forged} packets were not authentic`);
      const packets = to.packets - from.packets;
      const lost = to.lost - from.lost;
      costs[index]!.push({
        viewers,
        processor: (used[index]! - without[index]!) / viewers,
        packetsPerSecond: packets / tookSeconds / viewers,
        lostShare: lost / (packets + lost),
      });
    }
  }
  return costs;
}

/** Percent of a core, of each source. */
async function processorOf(sources: readonly Source[], seconds: number): Promise<number[]> {
  const before = sources.map(({ pid }) => treeCpuSeconds(pid));
  const fromMs = performance.now();
  await sleep(seconds * 1_000);
  const tookMs = performance.now() - fromMs;
  return sources.map(({ pid }, index) => (100_000 * (treeCpuSeconds(pid) - before[index]!)) / tookMs);
}

function state(crowd: HelperProcess<WhepViewersReport>): Promise<WhepViewersReport> {
  const known = crowd.reports.length;
  crowd.child.send('report');
  return crowd.report(report => crowd.reports.indexOf(report) >= known);
}
