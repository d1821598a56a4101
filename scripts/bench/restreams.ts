import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, HelperProcess, makeStream, publish, withServer } from './bench-context.ts';
import { treeCpuSeconds } from './process-usage.ts';
import { judge } from './report.ts';
import type { RtmpSinkReport } from './rtmp-sink-process.ts';

const streamCount = 20;
const destinationsEach = 5;
const count = streamCount * destinationsEach;
const name = `${count} restreams of ${streamCount} streams`;
const env = {
  MILLRACE_RECORDING_ENABLED: 'false',
  MILLRACE_LIVE_REWIND: '0',
  // The destinations are on this machine.
  MILLRACE_ALLOW_PRIVATE_TARGETS: 'true',
};

/** Processor time of restreams beyond that of the same streams without them. */
export const benchRestreams: Bench = async context => {
  const seconds = context.isShort ? 20 : 60;
  const sink = new HelperProcess<RtmpSinkReport>('./rtmp-sink-process.ts', {});
  const { port } = await sink.report();
  const measure = (destinations: number) =>
    withServer(context, env, async server => {
      const streams = [];
      for (let index = 0; index < streamCount; index += 1) {
        const restreams = Array.from({ length: destinations }, (_, destination) => ({
          name: `Destination ${destination}`,
          serverUrl: `rtmp://127.0.0.1:${port}/live`,
          streamKey: `stream-${index}-${destination}`,
        }));
        streams.push(await makeStream(server, { restreams }));
      }
      const publisher = publish(context, server, streams, { staggerMs: 97 });
      await publisher.report(report => report.kind === 'all-started');
      await sleep(10_000);
      const before = await sinkState();
      const pid = server.child.pid!;
      const cpuSeconds = treeCpuSeconds(pid);
      const startedMs = performance.now();
      await sleep(seconds * 1000);
      const share = (treeCpuSeconds(pid) - cpuSeconds) / ((performance.now() - startedMs) / 1000);
      const after = await sinkState();
      await publisher.stop();
      return { processor: 100 * share, connections: after.connections, bytes: after.bytes - before.bytes };
    });
  const sinkState = (): Promise<RtmpSinkReport> => {
    const known = sink.reports.length;
    sink.child.send('report');
    return sink.report(report => sink.reports.indexOf(report) >= known);
  };
  const without = await measure(0);
  const restreamed = await measure(destinationsEach);
  await sink.stop();
  return [
    judge(name, {
      what: 'destinations that are connected',
      value: restreamed.connections,
      unit: '',
      min: count,
    }),
    judge(name, {
      what: 'received by all destinations',
      value: (restreamed.bytes * 8) / 1e6 / seconds / count,
      unit: 'Mbit/s each',
      min: 2.5,
    }),
    judge(name, {
      what: 'processor a restream, beyond the streams alone',
      value: (restreamed.processor - without.processor) / count,
      unit: '% of a core',
      max: 0.1,
    }),
  ];
};
