import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';

/** Far below what is missed meanwhile, and above what a busy machine takes. */
const nearLiveSeconds = 4;
const awaySeconds = 8;

describeInBrowser('the player page under bad conditions', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  async function openPlaying(): Promise<{ viewer: WatchedPage; publisher: AsyncDisposable }> {
    const stream = await server.createStream();
    const publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey), size: '320x180' });
    const viewer = await WatchedPage.openPlayer(browser(), `${server.baseUrl}/live/${stream.liveStreamId}`);
    await viewer.untilPlayed(2);
    return { viewer, publisher };
  }

  const isNearLive = async (viewer: WatchedPage) => {
    const seconds = await viewer.latencySeconds();
    return seconds !== undefined && seconds < nearLiveSeconds;
  };

  it('returns to live when its network returns', async () => {
    const { viewer, publisher } = await openPlaying();
    await using _ = publisher;
    await using _viewer = viewer;
    await viewer.page.context().setOffline(true);
    await until('a stall', async () => (await viewer.video()).stalls > 0);
    const { time } = await viewer.video();
    await viewer.page.context().setOffline(false);
    await until('playback', async () => (await viewer.video()).time > time + 1);
    await until('the live edge', () => isNearLive(viewer));
    expect(await viewer.phase()).toBe('live');
    expect(await viewer.page.textContent('#live')).toContain('Live');
  });

  it('plays on over a network with a long round trip', async () => {
    const { viewer, publisher } = await openPlaying();
    await using _ = publisher;
    await using _viewer = viewer;
    const devTools = await viewer.page.context().newCDPSession(viewer.page);
    await devTools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 150,
      downloadThroughput: 250_000,
      uploadThroughput: 100_000,
    });
    const { time } = await viewer.video();
    await until('ten seconds of playback', async () => (await viewer.video()).time > time + 10);
    await until('the live edge', () => isNearLive(viewer));
    expect(await viewer.phase()).toBe('live');
  });

  it('returns to live when its device wakes up', async () => {
    const { viewer, publisher } = await openPlaying();
    await using _ = publisher;
    await using _viewer = viewer;
    const devTools = await viewer.page.context().newCDPSession(viewer.page);
    const { time } = await viewer.video();
    await devTools.send('Page.setWebLifecycleState', { state: 'frozen' });
    const frozenAtMs = Date.now();
    await until('some seconds of sleep', () => Date.now() - frozenAtMs > awaySeconds * 1000);
    await devTools.send('Page.setWebLifecycleState', { state: 'active' });
    await until('playback', async () => (await viewer.video()).time > time + awaySeconds);
    await until('the live edge', () => isNearLive(viewer));
    expect(await viewer.phase()).toBe('live');
    expect((await viewer.video()).isPaused).toBe(false);
  });
});
