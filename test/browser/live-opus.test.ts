import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordAudioTags } from '../support/audio-tags.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, WatchedPage } from './browser-fixture.ts';

const seconds = 20;

describeInBrowser('a broadcast with Opus', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  it('plays on the player page in Opus, without a choice of qualities', async () => {
    const [video, audio] = await Promise.all([
      recordTags({ seconds, extraArgs: ['-an'] }),
      recordAudioTags('Opus', seconds, ['-c:a', 'libopus', '-b:a', '64k', '-ac', '2']),
    ]);
    const stream = await server.createStream();
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    await client.publish(stream.streamKey);
    const isMedia = ({ kind }: { kind: string }) => kind !== 'script';
    const tags = [...video.filter(isMedia), ...audio].toSorted(
      (one, other) => one.timestampMs - other.timestampMs,
    );
    const signal = new AbortController();
    const sent = replay(client, tags, { signal: signal.signal });
    await using viewer = await WatchedPage.openPlayer(
      browser(),
      `${server.baseUrl}/live/${stream.liveStreamId}`,
    );
    await viewer.untilPlayed(3);
    const media = viewer.requests.filter(url => /\/(part|segment)-/.test(url));
    expect(media.some(url => url.includes('/audio-original/'))).toBe(true);
    expect(media.some(url => url.includes('/audio/'))).toBe(false);
    expect(await viewer.page.isVisible('text=Quality')).toBe(false);
    expect(viewer.complaints).toEqual([]);
    signal.abort();
    await sent;
    await client.close();
  });
});
