import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { describeInBrowser, mostStalls, publishPicture, until, WatchedPage } from './browser-fixture.ts';

describeInBrowser('the player page', browser => {
  let server: TestServer;
  beforeAll(async () => {
    // Long segments: whoever waits for a whole one comes late. A busy machine starts the next publisher late.
    server = await startServer({ 'live.segmentTarget': '6s', 'live.stopGrace': '60s' });
  });
  afterAll(() => server.stop());

  const pageUrl = (liveStreamId: string) => `${server.baseUrl}/live/${liveStreamId}`;

  it('waits while offline, starts by itself before the first segment is complete, plays close to live, and asks nobody but its server', async () => {
    const stream = await server.createStream();
    await using viewer = await WatchedPage.openPlayer(browser(), pageUrl(stream.liveStreamId));
    await viewer.page.waitForSelector('text=Waiting for the stream');
    expect(await viewer.phase()).toBe('waiting');
    await viewer.page.evaluate(`{
      window.offers = [];
      const text = inPlayer('#live-text');
      new MutationObserver(() => window.offers.push(text.textContent)).observe(text, { childList: true });
    }`);

    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey), gopSeconds: 6 });
    await viewer.untilPhase('live');
    expect(viewer.requests.filter(url => url.includes('/segment-'))).toEqual([]);
    expect(viewer.requests.filter(url => url.includes('/part-'))).not.toEqual([]);

    await viewer.untilPlayed(7);
    await until('the live edge', async () => (await viewer.latencySeconds()) < 4);
    expect(await viewer.page.textContent('#latency')).toMatch(/^\d(\.\d)? s behind$/);
    expect(await viewer.page.textContent('#live')).toContain('Live');
    expect(await viewer.page.evaluate('window.offers')).toEqual([]);
    const elsewhere = viewer.requests.filter(
      url => !url.startsWith(`${server.baseUrl}/`) && !url.startsWith(`blob:${server.baseUrl}/`),
    );
    expect(elsewhere).toEqual([]);
    expect(viewer.complaints).toEqual([]);
  });

  it('tells how many minutes are left before a start that is planned', async () => {
    const stream = await server.createStream();
    const startsAt = new Date(Date.now() + 30 * 60_000).toISOString();
    await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { startsAt });
    await using viewer = await WatchedPage.openPlayer(browser(), pageUrl(stream.liveStreamId));
    await viewer.page.getByRole('heading', { name: /^Starts in (?:29|30) minutes$/ }).waitFor();
    expect(viewer.complaints).toEqual([]);
  });

  it('plays on for two viewers, one of whom came in the middle of the broadcast', async () => {
    const stream = await server.createStream();
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using first = await WatchedPage.openPlayer(browser(), pageUrl(stream.liveStreamId));
    await first.untilPlayed(2);
    await using second = await WatchedPage.openPlayer(browser(), pageUrl(stream.liveStreamId));
    const states = await Promise.all([first.untilPlayed(7), second.untilPlayed(6)]);
    for (const [index, viewer] of [first, second].entries()) {
      expect(states[index]!.stalls).toBeLessThanOrEqual(mostStalls);
      await until('the live edge', async () => (await viewer.latencySeconds()) < 4);
      expect(viewer.complaints).toEqual([]);
    }
  });

  it('shows that the broadcast has ended, and starts by itself with the next one', async () => {
    const stream = await server.createStream();
    await using first = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await WatchedPage.openPlayer(browser(), pageUrl(stream.liveStreamId));
    await viewer.untilPlayed(1);
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await viewer.untilPhase('ended');
    expect(await viewer.page.isVisible('text=The stream has ended')).toBe(true);
    await first.stop();

    await server.api('PUT', `/live-streams/${stream.liveStreamId}/allow-again`);
    await using second = publishPicture({ url: server.rtmpUrl(stream.streamKey), size: '426x240' });
    await viewer.untilPhase('live');
    const state = await viewer.untilPlayed(2);
    expect(state.width).toBe(426);

    // An encoder that stops ends the stream for its viewers at once, and may continue the same broadcast.
    const endOfPlayback = 6;
    const ends: number[] = [];
    viewer.page.on('request', request => {
      if (!request.url().endsWith('/watch')) return;
      const { eve } = request.postDataJSON() as { eve: { typ: number; eat: number }[] };
      ends.push(...eve.filter(({ typ }) => typ === endOfPlayback).map(({ eat }) => eat));
    });
    await viewer.page.evaluate(`window.notices = [];
      new MutationObserver(() => window.notices.push(inPlayer('#notice').textContent))
        .observe(inPlayer('#notice'), { childList: true, characterData: true, subtree: true });`);
    const stoppedAtMs = Date.now();
    await second.stop();
    await viewer.untilPhase('ended');
    expect(await viewer.page.isVisible('text=The stream has ended')).toBe(true);
    const health = await server.api('GET', `/live-streams/${stream.liveStreamId}/health`);
    const { broadcastId, ...rest } = (await health.json()) as { broadcastId: string };
    expect(rest).toMatchObject({ broadcasting: true, state: 'stopping' });

    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey), size: '640x360' });
    await viewer.untilPhase('live');
    await until('the picture of the third', async () => (await viewer.untilPlayed(1)).width === 640);
    const sources = viewer.requests
      .filter(url => url.includes('/index.m3u8'))
      .map(url => url.split('/').at(-3));
    expect(sources.at(-1)).toBe(broadcastId);
    await until('the report of the end', () => ends.some(atMs => atMs >= stoppedAtMs));
    expect(await viewer.page.evaluate('window.notices.filter(Boolean)')).toEqual([]);
    expect(viewer.complaints).toEqual([]);
  });

  it('says so when there is no such stream', async () => {
    const viewer = await WatchedPage.openPlayer(browser(), pageUrl('liAAAAAAAAAAAAAAAAAAAAAA'));
    await using _ = viewer;
    expect(await viewer.page.isVisible('text=Stream not found')).toBe(true);
    for (const [width, height] of [
      [320, 568],
      [240, 135],
    ] as const) {
      await viewer.page.setViewportSize({ width, height });
      await viewer.untilFits();
    }
    expect(await viewer.page.locator('video').count()).toBe(0);
  });

  it('plays inside a frame of another site', async () => {
    const stream = await server.createStream();
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    const embedder = http.createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><iframe src="${pageUrl(stream.liveStreamId)}" allow="autoplay"></iframe>`);
    });
    await once(embedder.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void embedder.close());
    // Uses another host name, which is another site.
    const url = `http://localhost:${(embedder.address() as AddressInfo).port}/`;
    await using viewer = await WatchedPage.open(browser(), url);
    const inside = await waitUntil(() => viewer.page.frames()[1]);
    await until(
      'a second played inside the frame',
      async () => (await inside.evaluate<number>(`inPlayer('video')?.currentTime ?? 0`)) > 1,
    );
  });
});
