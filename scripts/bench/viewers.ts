import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, HelperProcess, makeStream, publish, withServer } from './bench-context.ts';
import { treeCpuSeconds } from './process-usage.ts';
import { judge, percentile } from './report.ts';
import { followParts, type PartArrival, waitUntilPlayable } from './viewer.ts';
import type { ViewersOrder, ViewersReport } from './viewers-process.ts';

const name = '500 viewers';
const viewers = 500;

/** Delay of parts with five hundred waiting viewers. */
export const benchViewers: Bench = context =>
  withServer(context, {}, async server => {
    const stream = await makeStream(server);
    const publisher = publish(context, server, [stream], { tellFrames: true });
    const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
    // One viewer beside them looks into the parts, so that the last frame of each is known.
    const parts: PartArrival[] = [];
    const end = new AbortController();
    const following = followParts(mediaUrl, part => parts.push(part), end.signal);
    const order: ViewersOrder = { port: server.httpPort, path: new URL(mediaUrl).pathname, viewers };
    const crowd = new HelperProcess<ViewersReport>('./viewers-process.ts', order);
    await sleep(4000);
    const fromMs = Date.now();
    const [serverBefore, crowdBefore] = [treeCpuSeconds(server.child.pid!), treeCpuSeconds(crowd.child.pid!)];
    await sleep(context.isShort ? 8000 : 30_000);
    const seconds = (Date.now() - fromMs) / 1000;
    const serverLoad = (100 * (treeCpuSeconds(server.child.pid!) - serverBefore)) / seconds;
    const crowdLoad = (100 * (treeCpuSeconds(crowd.child.pid!) - crowdBefore)) / seconds;
    crowd.child.send('stop');
    const { arrivals, failures } = await crowd.report();
    end.abort();
    await following;
    await publisher.stop();

    const sentMs = publisher.reports.filter(report => report.kind === 'frame').map(report => report.atMs);
    const lastFrames = new Map(parts.map(part => [part.number, part.lastFrame]));
    const lagsMs = arrivals
      .filter(([number, atMs]) => atMs >= fromMs && lastFrames.has(number))
      .map(([number, atMs]) => atMs - sentMs[lastFrames.get(number)!]!);
    if (failures.length > 0) console.error(failures.slice(0, 3).join('\n'));
    return [
      judge(name, {
        what: `last frame sent to part received, p50 of ${lagsMs.length}`,
        value: percentile(lagsMs, 0.5),
        unit: 'ms',
      }),
      judge(name, {
        what: 'last frame sent to part received, p99',
        value: percentile(lagsMs, 0.99),
        unit: 'ms',
        max: 80,
      }),
      judge(name, {
        what: 'processor of the server and its children',
        value: serverLoad,
        unit: '% of a core',
        max: 25,
      }),
      judge(name, { what: 'processor of the viewers', value: crowdLoad, unit: '% of a core' }),
      judge(name, { what: 'viewers that failed', value: failures.length, unit: '', max: 0 }),
    ];
  });
