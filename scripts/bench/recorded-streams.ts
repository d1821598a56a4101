import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../server-process.ts';
import { type Bench, type BenchContext, makeStream, publish, withServer } from './bench-context.ts';
import { processTree, usageOf } from './process-usage.ts';
import { judge, percentile, type Row } from './report.ts';
import { waitUntilPlayable } from './viewer.ts';

const name = 'recording and rewind';
const streamCount = 10;
const settleMs = 8000;

const off = { MILLRACE_RECORDING_ENABLED: 'false', MILLRACE_LIVE_REWIND: '0s' };
const forms = [off, { ...off, MILLRACE_LIVE_REWIND: '1h' }, {}] as const;

/** What it costs that broadcasts are recorded and can be rewound: servers with and without run side by side, so that all have the same machine. */
export const benchRecordedStreams: Bench = async context => {
  const rounds: (readonly [off: number, rewind: number, both: number])[] = [];
  for (let round = 0; round < (context.isShort ? 1 : 5); round += 1) rounds.push(await measure(context));
  const median = (value: (round: (typeof rounds)[number]) => number) => percentile(rounds.map(value), 0.5);
  const row = (what: string, value: number, unit: string, atMost?: number): Row =>
    judge(name, { what, value, unit, ...(atMost === undefined ? {} : { atMost }) });
  const added = rounds.map(([none, , both]) => both - none);
  return [
    row(
      `processor a stream without either, median of ${rounds.length} rounds with ${streamCount} streams`,
      median(([none]) => none),
      '% of a core',
    ),
    row(
      'with both',
      median(([, , both]) => both),
      '% of a core',
    ),
    row(
      'with both, of what it is without',
      median(([none, , both]) => both / none),
      '×',
    ),
    row(
      'added by rewind',
      median(([none, rewind]) => rewind - none),
      '% of a core',
    ),
    row(
      'added by recordings',
      median(([, rewind, both]) => both - rewind),
      '% of a core',
    ),
    row('added by both', percentile(added, 0.5), '% of a core', 0.5),
    row('added by both, most of all rounds', Math.max(...added), '% of a core'),
  ];
};

/** Processor time of the server and its children in percent of a core, for one stream, in each of the {@link forms}. */
async function measure(context: BenchContext): Promise<readonly [number, number, number]> {
  const [none, rewind, both] = forms;
  return withServer(context, none, first =>
    withServer(context, rewind, second =>
      withServer(context, both, async third => {
        const servers = [first, second, third] as const;
        const publishers = await Promise.all(servers.map(server => publishAll(context, server)));
        await sleep(settleMs);
        const before = servers.map(cpuSeconds);
        const startedMs = performance.now();
        await sleep(context.isShort ? 15_000 : 40_000);
        const after = servers.map(cpuSeconds);
        const elapsedSeconds = (performance.now() - startedMs) / 1000;
        await Promise.all(publishers.map(publisher => publisher.stop()));
        const shares = after.map(
          (seconds, index) => (100 * (seconds - before[index]!)) / elapsedSeconds / streamCount,
        );
        return [shares[0]!, shares[1]!, shares[2]!] as const;
      }),
    ),
  );
}

async function publishAll(context: BenchContext, server: ServerProcess) {
  const streams = [];
  for (let index = 0; index < streamCount; index += 1) streams.push(await makeStream(server));
  const publisher = publish(context, server, streams, { staggerMs: 197 });
  await publisher.report(report => report.kind === 'all-started');
  await Promise.all(streams.map(({ liveStreamId }) => waitUntilPlayable(server, liveStreamId)));
  return publisher;
}

function cpuSeconds(server: ServerProcess): number {
  return usageOf(processTree(server.child.pid!)).cpuSeconds;
}
