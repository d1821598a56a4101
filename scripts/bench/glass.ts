import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumArguments, findChromium } from '../../test/support/chromium.ts';
import {
  acceptedAt,
  type Bench,
  type BenchContext,
  makeStream,
  publish,
  withServer,
} from './bench-context.ts';
import { ClockPublisher } from './clock-picture.ts';
import { pageScript, type Watched } from './page-script.ts';
import { judge, percentile, type Row } from './report.ts';

const name = 'glass to glass';
const tries = 10;

/** Glass-to-glass latency in Chromium, and the time until an open page shows a stream that starts. */
export const benchGlass: Bench = async context => {
  const found = findChromium();
  if (found.path === undefined) throw new Error(`no browser to measure in: ${found.reason}`);
  const browser = await chromium.launch({
    executablePath: found.path,
    args: [...chromiumArguments, '--autoplay-policy=no-user-gesture-required'],
  });
  try {
    return [...(await measureLatency(context, browser)), ...(await measureFirstFrame(context, browser))];
  } finally {
    await browser.close();
  }
};

function measureLatency(context: BenchContext, browser: Browser): Promise<Row[]> {
  return withServer(context, {}, async server => {
    const stream = await makeStream(server);
    const publisher = new ClockPublisher(
      context.ffmpeg.path,
      `rtmp://127.0.0.1:${server.rtmpPort}/s/${stream.streamKey}`,
    );
    try {
      const page = await openPlayer(browser, server.baseUrl, stream.liveStreamId);
      await page.evaluate('bench.waitForFirstPicture()');
      // The start has a bench of its own.
      await sleep(5000);
      const seconds = context.isShort ? 20 : 120;
      const watched = await page.evaluate<Watched>(`bench.watchClock(${seconds})`);
      await page.close();
      const row = (what: string, value: number, unit: string, max?: number) =>
        judge(name, { what, value, unit, ...(max === undefined ? {} : { max }) });
      return [
        row(
          `p50 of ${watched.latenciesMs.length} pictures`,
          percentile(watched.latenciesMs, 0.5) / 1000,
          's',
          1.3,
        ),
        row('p95', percentile(watched.latenciesMs, 0.95) / 1000, 's'),
        row('longest', Math.max(...watched.latenciesMs) / 1000, 's'),
        row('stalls (waiting or stalled events)', watched.stalls, '', 0),
        row('longest time between two pictures', watched.maxPauseMs, 'ms'),
        row('pictures that the browser dropped', watched.droppedFrames, ''),
        row('pictures that could not be read', watched.unreadable, ''),
      ];
    } finally {
      await publisher.stop();
    }
  });
}

function measureFirstFrame(context: BenchContext, browser: Browser): Promise<Row[]> {
  return withServer(context, {}, async server => {
    const timesMs: number[] = [];
    for (let index = 0; index < (context.isShort ? 3 : tries); index += 1) {
      const stream = await makeStream(server);
      const page = await openPlayer(browser, server.baseUrl, stream.liveStreamId);
      await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => {});
      await sleep(500);
      const shown = page.evaluate<number>('bench.waitForFirstPicture()');
      const publisher = publish(context, server, [stream]);
      const acceptedMs = await acceptedAt(publisher);
      timesMs.push((await shown) - acceptedMs);
      await page.close();
      await publisher.stop();
    }
    const row = (what: string, value: number) => judge(name, { what, value, unit: 's', max: 2 });
    return [
      row(
        `publish accepted to first picture on an open page, p50 of ${timesMs.length}`,
        percentile(timesMs, 0.5) / 1000,
      ),
      row('publish accepted to first picture on an open page, longest', Math.max(...timesMs) / 1000),
    ];
  });
}

async function openPlayer(browser: Browser, baseUrl: string, liveStreamId: string): Promise<Page> {
  const page = await browser.newPage();
  await page.addInitScript(pageScript);
  await page.goto(`${baseUrl}/live/${liveStreamId}`);
  return page;
}
