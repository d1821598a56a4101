import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture } from './browser-fixture.ts';
import { SdkParent } from './sdk-parent.ts';

describeInBrowser('the player of a live stream in a frame', browser => {
  let server: TestServer;
  let parent: SdkParent;
  beforeAll(async () => {
    server = await startServer();
    parent = await SdkParent.start();
  });
  afterAll(async () => {
    parent.close();
    await server.stop();
  });

  it('tells the page around what happens, and does what that says', async () => {
    const stream = await server.createStream();
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    const address = `${server.baseUrl}/live/${stream.liveStreamId}${parent.sdkAddress()}`;
    await using viewer = await parent.open(browser(), address);
    const { page } = viewer;
    await parent.untilHeard(page, 'ready');
    const [first] = await parent.heard(page);
    expect(first).toEqual({ origin: server.baseUrl, type: 'sdkSync', sdkPlayerId: '7' });
    await parent.untilHeard(page, 'firstplay');
    await parent.untilHeard(page, 'timeupdate');
    // The distance to the live edge is kept by small changes of the element's rate.
    expect(await parent.ask(page, 'getPlaybackRate')).toBe(1);

    expect(await parent.ask(page, 'getDuration')).toBe(Number.POSITIVE_INFINITY);
    expect(await parent.ask(page, 'getCurrentTime')).toBeGreaterThan(0);
    await parent.ask(page, 'mute');
    expect(await parent.ask(page, 'getMuted')).toBe(true);
    await parent.ask(page, 'pause');
    expect(await parent.ask(page, 'getPaused')).toBe(true);
    await parent.ask(page, 'play');
    expect(await parent.ask(page, 'getPlaying')).toBe(true);
    await parent.ask(page, 'hideControls');
    await parent.untilHeard(page, 'controlsdisabled');

    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await parent.untilHeard(page, 'ended');
    await parent.ask(page, 'destroy');
    expect((await parent.heard(page)).filter(({ type }) => type === 'ratechange')).toEqual([]);
    expect((await parent.heard(page)).filter(({ type }) => type === 'ended')).toHaveLength(1);
    expect(viewer.complaints).toEqual([]);
  });

  it('says nothing where the theme does not allow it', async () => {
    const theme = await server.api('POST', '/players', { enableApi: false });
    const { playerId } = (await theme.json()) as { playerId: string };
    const stream = await server.createStream();
    await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { playerId });
    const address = `${server.baseUrl}/live/${stream.liveStreamId}${parent.sdkAddress()}`;
    await using viewer = await parent.open(browser(), address);
    const frame = viewer.page.frames().find(candidate => candidate.url().startsWith(server.baseUrl))!;
    await frame.waitForFunction('window.millrace !== undefined');
    await viewer.page.evaluate(`window.send({ message: 'getPaused', sdkPlayerId: 7, callbackId: 'one' })`);
    expect(await parent.heard(viewer.page)).toEqual([]);
  });
});
