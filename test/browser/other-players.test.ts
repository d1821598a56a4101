import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { type Publisher, publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, WatchedPage } from './browser-fixture.ts';

describeInBrowser('players of others', browser => {
  let server: TestServer;
  let stream: CreatedStream;
  let publisher: Publisher;
  beforeAll(async () => {
    server = await startServer();
    stream = await server.createStream();
    publisher = publishTestPicture({ url: server.rtmpUrl(stream.streamKey) });
  });
  afterAll(async () => {
    await publisher.stop();
    await server.stop();
  });

  /** An empty page with a video; `script` runs in it with `video` and `url`. */
  const play = async (script: string) => {
    const viewer = await WatchedPage.openBare(browser(), server.baseUrl);
    const url = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    const until = `(async () => { while (!(await fetch('${url}')).ok) await new Promise(r => setTimeout(r, 100)); })()`;
    await viewer.page.evaluate(until);
    await viewer.page.evaluate(`(() => {
      const video = document.querySelector('video');
      const url = '${url}';
      ${script}
      video.play();
    })()`);
    return viewer;
  };
  const playWithHls = (config: string) =>
    play(`
      window.hls = new Hls(${config});
      window.faults = [];
      hls.on('hlsError', (_, data) => { if (data.fatal) faults.push(data.details); });
      hls.attachMedia(video);
      hls.loadSource(url);
    `);

  it('hls.js as it comes plays with low latency', async () => {
    await using viewer = await playWithHls('{}');
    await viewer.untilPlayed(6);
    expect(await viewer.page.evaluate<number>('hls.latency')).toBeLessThan(4);
    expect(viewer.requests.some(url => url.includes('/part-'))).toBe(true);
    expect(await viewer.page.evaluate('faults')).toEqual([]);
  });

  it('hls.js without low latency plays whole segments', async () => {
    await using viewer = await playWithHls('{ lowLatencyMode: false }');
    await viewer.untilPlayed(6);
    expect(viewer.requests.some(url => url.includes('/segment-'))).toBe(true);
    expect(viewer.requests.some(url => url.includes('/part-'))).toBe(false);
    expect(await viewer.page.evaluate('faults')).toEqual([]);
  });

  it("the browser's own player plays the same address", async context => {
    await using viewer = await play('video.src = url;');
    const answer = await viewer.page.evaluate<string>(
      `document.querySelector('video').canPlayType('application/vnd.apple.mpegurl')`,
    );
    if (answer === '') context.skip('this Chromium has no HLS player of its own');
    await viewer.untilPlayed(6);
    expect((await viewer.video()).source).toContain('.m3u8');
  });
});
