import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { type Bench, type BenchContext, makeStream, withServer } from './bench-context.ts';
import { launchBrowser, openHlsPage, openPlayerPage } from './browser-pages.ts';
import { ClockPublisher } from './clock-picture.ts';
import type { Watched } from './page-script.ts';
import { judge, percentile, type Row } from './report.ts';
import { waitUntilPlayable } from './viewer.ts';

const name = 'glass to glass';
/** The player page, and a page with hls.js as its makers set it. */
const players = { 'player page': openPlayerPage, 'hls.js': openHlsPage } as const;

/** Glass-to-glass latency in Chromium: two players watch the same broadcast. */
export const benchGlass: Bench = async context => {
  const browser = await launchBrowser();
  try {
    return await measureLatency(context, browser);
  } finally {
    await browser.close();
  }
};

function measureLatency(context: BenchContext, browser: Browser): Promise<Row[]> {
  return withServer(context, {}, async server => {
    const stream = await makeStream(server);
    const { path } = context.ffmpeg;
    const { rtmpPort } = server;
    const publisher = await ClockPublisher.start(path, rtmpPort, stream.streamKey, context.recordingPath);
    try {
      await waitUntilPlayable(server, stream.liveStreamId);
      const pages: Page[] = [];
      for (const open of Object.values(players)) {
        const page = await open(browser, server.baseUrl, stream.liveStreamId);
        await page.evaluate('bench.waitForFirstPicture()');
        pages.push(page);
      }
      // The start has a bench of its own.
      await sleep(context.isShort ? 5000 : 15_000);
      const seconds = context.isShort ? 30 : 600;
      const encodedBefore = publisher.encodeMs.length;
      const watched = await Promise.all(
        pages.map(page => page.evaluate<Watched>(`bench.watchClock(${seconds})`)),
      );
      await Promise.all(pages.map(page => page.close()));
      if (publisher.isClosed) throw new Error('the server closed the connection of the publisher');
      const encodeMs = publisher.encodeMs.slice(encodedBefore);
      return [
        ...rowsOf('player page', watched[0]!, seconds, 0.7),
        ...rowsOf('hls.js', watched[1]!, seconds, 0.95),
        judge(name, {
          what: 'of that: the encoder of the bench, p50',
          value: percentile(encodeMs, 0.5),
          unit: 'ms',
        }),
      ];
    } finally {
      await publisher.stop();
    }
  });
}

function rowsOf(player: string, watched: Watched, seconds: number, maxSeconds: number): Row[] {
  const { latenciesMs, stalls, maxPauseMs, droppedFrames, unreadable } = watched;
  const row = (what: string, value: number, unit: string, max?: number) =>
    judge(`${name}, ${player}`, { what, value, unit, max });
  return [
    row(`p50 of ${latenciesMs.length} pictures`, percentile(latenciesMs, 0.5) / 1000, 's', maxSeconds),
    row('p95', percentile(latenciesMs, 0.95) / 1000, 's'),
    row('longest', Math.max(...latenciesMs) / 1000, 's'),
    row(`stalls in ${seconds} s`, stalls, '', 0),
    row('longest time between two pictures', maxPauseMs, 'ms'),
    row('seeks', watched.seeks, ''),
    row('pictures that the browser dropped', droppedFrames, ''),
    row('pictures that could not be read', unreadable, ''),
  ];
}
