import { expect, it } from 'vitest';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { startServer } from '../support/start-server.ts';
import { describeInBrowser, WatchedPage } from './browser-fixture.ts';

describeInBrowser('the page of a private live stream', browser => {
  it('waits and plays with its token, also after a reload, and is refused to another browser', async () => {
    await using server = await startServer();
    const stream = await server.createStream();
    const changed = await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { public: false });
    const { assets } = (await changed.json()) as { assets: { player: string } };
    const { pathname, search } = new URL(assets.player);
    const url = server.baseUrl + pathname + search;
    await using viewer = await WatchedPage.open(browser(), url);
    expect(await viewer.phase()).toBe('waiting');
    await using _ = publishTestPicture({ url: server.rtmpUrl(stream.streamKey) });
    await viewer.untilPhase('live');
    await viewer.untilPlayed(2);
    await using second = await WatchedPage.open(browser(), url, { userAgent: 'another browser' });
    expect(await second.page.isVisible('text=There is no stream here')).toBe(true);
    await viewer.page.reload();
    await viewer.untilPlayed(1);
    const media = viewer.requests.filter(address => /\.(m4s|mp4|m3u8)/.test(address));
    expect(media.length).toBeGreaterThan(10);
    for (const address of media) expect(address).toContain(`${server.baseUrl}/private/`);
    expect(viewer.complaints).toEqual([]);
  });
});
