import { expect, it } from 'vitest';
import { startServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';

describeInBrowser('the page of a private live stream', browser => {
  it('waits and plays with its token, also after a reload, and is refused to another browser', async () => {
    await using server = await startServer();
    const stream = await server.createStream();
    const changed = await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { public: false });
    const { assets } = (await changed.json()) as { assets: { player: string } };
    const { pathname, search } = new URL(assets.player);
    const url = server.baseUrl + pathname + search;
    await using viewer = await WatchedPage.openPlayer(browser(), url);
    expect(await viewer.phase()).toBe('waiting');
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await viewer.untilPhase('live');
    await viewer.untilPlayed(2);
    await using second = await WatchedPage.openPlayer(browser(), url, { userAgent: 'another browser' });
    expect(await second.page.isVisible('text=This link doesn’t work for you')).toBe(true);
    await viewer.page.reload();
    await viewer.untilPlayed(1);
    const media = viewer.requests.filter(address => /\.(m4s|mp4|m3u8)/.test(address));
    expect(media.length).toBeGreaterThan(10);
    for (const address of media) expect(address).toContain(`${server.baseUrl}/private/`);
    expect(viewer.complaints).toEqual([]);
  });

  it('goes on by itself when the stream is made public, and when it is made private again', async () => {
    await using server = await startServer();
    const stream = await server.createStream();
    const change = async (isPublic: boolean) => {
      const answer = await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { public: isPublic });
      return (await answer.json()) as { assets: { player: string } };
    };
    const { assets } = await change(false);
    const { pathname, search } = new URL(assets.player);
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await WatchedPage.openPlayer(browser(), server.baseUrl + pathname + search);
    await viewer.untilPlayed(1);
    for (const [isPublic, root] of [
      [true, `${server.baseUrl}/${stream.liveStreamId}/`],
      [false, `${server.baseUrl}/private/`],
    ] as const) {
      await change(isPublic);
      await until('media from the other address', async () =>
        viewer.requests.slice(-5).every(address => address.startsWith(root)),
      );
      await viewer.untilPhase('live');
      await viewer.untilPlayed(1);
    }
  });
});
