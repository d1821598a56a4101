import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, mostStalls, publishPicture, until, WatchedPage } from './browser-fixture.ts';

describeInBrowser('the player page, where a slate stands in for a publisher that is gone', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ 'live.slate': 'last-frame', 'recording.enabled': 'false' });
  });
  afterAll(() => server.stop());

  it('plays on while the publisher is gone, and when it is back', async () => {
    const stream = await server.createStream();
    const health = async () =>
      (await (await server.api('GET', `/live-streams/${stream.liveStreamId}/health`)).json()) as {
        state?: string;
      };
    await using first = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await WatchedPage.openPlayer(
      browser(),
      `${server.baseUrl}/live/${stream.liveStreamId}`,
    );
    await viewer.untilPlayed(3);
    const { stalls, soundBytes } = await viewer.video();
    await first.kill();
    const during = await viewer.untilPlayed(4);
    expect((await health()).state).toBe('waiting');
    expect(during.soundBytes).toBeGreaterThan(soundBytes);

    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await until('the publisher is back', async () => (await health()).state === 'live');
    const after = await viewer.untilPlayed(4);
    expect(after.stalls - stalls).toBeLessThanOrEqual(mostStalls);
    expect(await viewer.phase()).toBe('live');
    await until('the newest picture', async () => (await viewer.latencySeconds()) < 4);
    expect(viewer.complaints).toEqual([]);
  });
});
