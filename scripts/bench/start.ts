import { setTimeout as sleep } from 'node:timers/promises';
import { createLiveStream } from '../server-process.ts';
import { acceptedAt, type Bench, HelperProcess, makeStream, publish, withServer } from './bench-context.ts';
import { launchBrowser, openPlayerPage } from './browser-pages.ts';
import { judge, percentile, type Row } from './report.ts';
import { followParts, type PartArrival, waitUntilPlayable } from './viewer.ts';

const name = 'start';
const tries = 10;

/** Time from the accepted publisher to a playable stream and to its first picture, and from the last frame of a part to the part. */
export const benchStart: Bench = async context => [
  ...(await measureServer(context)),
  ...(await measurePages(context)),
];

/** The part of the benchmark without browsers. */
export const measureServer: Bench = context =>
  withServer(context, {}, async server => {
    const startsMs: number[] = [];
    for (let index = 0; index < tries; index += 1) {
      const stream = await makeStream(server);
      const publisher = publish(context, server, [stream]);
      const acceptedMs = await acceptedAt(publisher);
      startsMs.push((await waitUntilPlayable(server, stream.liveStreamId)).atMs - acceptedMs);
      await publisher.stop();
    }

    const stream = await makeStream(server);
    const publisher = publish(context, server, [stream], { tellFrames: true });
    const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
    const parts: PartArrival[] = [];
    const end = new AbortController();
    const following = followParts(mediaUrl, part => parts.push(part), end.signal);
    const requestsMs = await requestBareKoa(context.isShort ? 8000 : 30_000);
    end.abort();
    await following;
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    await publisher.stop();

    const sentMs = publisher.reports.filter(report => report.kind === 'frame').map(report => report.atMs);
    // Skips the first parts: those before the first request tell nothing.
    const lagsMs = parts.slice(8).map(part => part.atMs - sentMs[part.lastFrame]!);
    return [
      judge(name, {
        what: 'publish accepted to playlist, p50 of 10',
        value: percentile(startsMs, 0.5) / 1000,
        unit: 's',
        max: 0.6,
      }),
      judge(name, {
        what: 'publish accepted to playlist, longest',
        value: Math.max(...startsMs) / 1000,
        unit: 's',
        max: 0.6,
      }),
      judge(name, {
        what: `last frame sent to part received, p50 of ${lagsMs.length}`,
        value: percentile(lagsMs, 0.5),
        unit: 'ms',
        max: 8,
      }),
      judge(name, {
        what: 'last frame sent to part received, p99',
        value: percentile(lagsMs, 0.99),
        unit: 'ms',
        max: 30,
      }),
      judge(name, {
        what: 'last frame sent to part received, by a request to a Koa application, means of the faster halves',
        value: meanOfFasterHalf(lagsMs) / meanOfFasterHalf(requestsMs),
        unit: '×',
        better: 'lower',
      }),
      judge(name, {
        what: 'last frame arrived to part listed (own metric), share within 80 ms',
        value: 100 * shareWithin(metrics, 'millrace_part_lag_seconds', '0.08'),
        unit: '%',
        min: 95,
      }),
    ];
  });

/** Passed through, with lower renditions, and with a watermark, which has even the source encoded. */
const kinds = [
  { what: '', attributes: {}, maxSeconds: 0.6 },
  { what: ', ladder', attributes: { qualities: 'ladder' }, maxSeconds: 1 },
  { what: ', sandbox', attributes: {}, isSandbox: true, maxSeconds: 1 },
] as const;

const measurePages: Bench = async context => {
  const browser = await launchBrowser();
  try {
    return await withServer(context, {}, async server => {
      const rows: Row[] = [];
      for (const { what, attributes, maxSeconds, ...kind } of kinds) {
        const waitingMs: number[] = [];
        const openedMs: number[] = [];
        for (let index = 0; index < (context.isShort ? 4 : tries); index += 1) {
          const stream = await createLiveStream(
            server.baseUrl,
            'isSandbox' in kind ? server.sandboxKey : server.productionKey,
            'Bench',
            attributes,
          );
          const page = await openPlayerPage(browser, server.baseUrl, stream.liveStreamId);
          await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => {});
          await sleep(500);
          const shown = page.evaluate<number>('bench.waitForFirstPicture()');
          const publisher = publish(context, server, [stream]);
          const acceptedMs = await acceptedAt(publisher);
          waitingMs.push((await shown) - acceptedMs);
          await page.close();
          await sleep(2000);
          const openedAtMs = Date.now();
          const late = await openPlayerPage(browser, server.baseUrl, stream.liveStreamId);
          openedMs.push((await late.evaluate<number>('bench.firstPictureAt')) - openedAtMs);
          await late.close();
          await publisher.stop();
        }
        const row = (event: string, value: number, max?: number) =>
          judge(name, { what: event + what, value, unit: 's', max });
        const accepted = 'publish accepted to first picture on an open page';
        const opened = 'page opened to first picture';
        rows.push(
          row(`${accepted}, p50 of ${waitingMs.length}`, percentile(waitingMs, 0.5) / 1000, maxSeconds),
          row(`${accepted}, p95`, percentile(waitingMs, 0.95) / 1000),
          row(`${opened}, p50 of ${openedMs.length}`, percentile(openedMs, 0.5) / 1000),
          row(`${opened}, p95`, percentile(openedMs, 0.95) / 1000),
        );
      }
      return rows;
    });
  } finally {
    await browser.close();
  }
};

/** Times of single requests, one after the other. */
async function requestBareKoa(durationMs: number): Promise<number[]> {
  const koa = new HelperProcess<{ port: number }>('./trivial-koa-process.ts', '');
  const { port } = await koa.report();
  const times: number[] = [];
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/`)).text();
    times.push(performance.now() - startedMs);
    await sleep(50);
  }
  await koa.stop();
  return times;
}

/** Other work on the machine makes single values longer, and averages have more digits than the clocks of two processes. */
function meanOfFasterHalf(values: readonly number[]): number {
  const faster = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length / 2));
  return faster.reduce((sum, value) => sum + value, 0) / faster.length;
}

/** Share of a histogram's observations in the buckets up to `bound`. */
function shareWithin(metrics: string, histogram: string, bound: string): number {
  const count = (le: string) => Number(metrics.split(`${histogram}_bucket{le="${le}"} `)[1]?.split('\n')[0]);
  return count(bound) / count('+Inf');
}
