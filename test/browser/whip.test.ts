import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { chromiumArguments, findChromium } from '../support/chromium.ts';
import { ffprobe } from '../support/ffmpeg.ts';
import { findInPlayer, playerAlone } from '../support/player-page.ts';
import { Random } from '../support/random.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { fakeMediaArguments, WhipPage } from '../support/whip-page.ts';
import { describeInBrowser } from './browser-fixture.ts';

describeInBrowser('a browser that publishes over WHIP', browser => {
  let server: TestServer;
  /** Log lines about the ends of publishers. */
  const closed: { readonly packetsLost: number; readonly packetsRecovered: number }[] = [];
  const log: Logger = {
    ...silentLogger,
    info: (event, data) =>
      void (event === 'publisher-closed' && closed.push(data as (typeof closed)[number])),
    child: () => log,
  };
  beforeAll(async () => {
    server = await startServer({ 'live.stopGrace': '100ms' }, { log });
  });
  afterAll(() => server.stop());

  async function stateOf({ liveStreamId }: CreatedStream) {
    const response = await server.api('GET', `/live-streams/${liveStreamId}/broadcasts`);
    const { data } = (await response.json()) as {
      data: { state: string; protocol: string; endReason?: string }[];
    };
    return data[0];
  }

  const isLive = (stream: CreatedStream) =>
    waitUntil(async () => (await stateOf(stream))?.state === 'live', { what: 'the broadcast to be live' });

  test('is live with keyframes at its own interval, at a high bitrate, and ends at once on DELETE', async () => {
    const stream = await server.createStream();
    const page = await WhipPage.publish(browser(), {
      ...server,
      streamKey: stream.streamKey,
      hasAudio: true,
    });
    await isLive(stream);
    // Sends requests and an answer that names a bitrate: otherwise Chromium sends one keyframe, at 300 kbit/s.
    await waitUntil(async () => {
      const { keyframes, maxTargetBitsPerSecond } = await page.stats();
      return keyframes >= 4 && maxTargetBitsPerSecond > 500_000;
    });
    const probed = await ffprobe([
      ...['-v', 'error', '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0'],
      `${server.baseUrl}/${stream.liveStreamId}.m3u8`,
    ]);
    expect(probed).toContain('h264,640,360');
    expect(probed).toContain('aac');
    expect(await stateOf(stream)).toMatchObject({
      protocol: 'whip',
      encoder: expect.stringMatching(/^Chrome \d+$|^node$/),
    });
    expect((await fetch(page.session, { method: 'DELETE' })).status).toBe(200);
    await waitUntil(async () => (await stateOf(stream))?.state === 'ended');
    expect((await fetch(page.session, { method: 'DELETE' })).status).toBe(404);
    await page.page.close();
  });

  test('may send AV1', async () => {
    const stream = await server.createStream();
    const { streamKey } = stream;
    const page = await WhipPage.publish(browser(), {
      ...server,
      streamKey,
      hasAudio: false,
      codec: 'video/AV1',
    });
    await isLive(stream);
    expect(await stateOf(stream)).toMatchObject({
      videoCodec: expect.stringMatching(/^av01\.0\.\d\dM\.08$/),
    });
    await waitUntil(async () => (await page.stats()).keyframes >= 2);
    await fetch(page.session, { method: 'DELETE' });
    await page.page.close();
  });

  test('may send VP8, of which viewers get H.264 at the same size, also over WebRTC', async () => {
    const stream = await server.createStream();
    const { streamKey, liveStreamId } = stream;
    await server.api('PATCH', `/live-streams/${liveStreamId}`, { ultraLowLatency: true });
    const publisher = await WhipPage.publish(browser(), {
      ...server,
      streamKey,
      hasAudio: true,
      codec: 'video/VP8',
    });
    await isLive(stream);
    expect(await stateOf(stream)).toMatchObject({ videoCodec: 'vp08.00.10.08' });
    const probed = await ffprobe([
      ...['-v', 'error', '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0'],
      `${server.baseUrl}/${liveStreamId}.m3u8`,
    ]);
    expect(probed).toContain('h264,640,360');
    expect(probed).toContain('aac');
    const viewer = await browser().newPage();
    await viewer.goto(`${server.baseUrl}/health`);
    await viewer.evaluate(`localStorage.setItem('millrace.player', '{"ultraLowLatency":true}')`);
    await viewer.goto(playerAlone(`${server.baseUrl}/live/${liveStreamId}#autoplay;muted`));
    await waitUntil(() =>
      viewer.evaluate<boolean>(`(() => {
        const video = (${findInPlayer})('video');
        return video !== null && video.srcObject !== null && video.videoWidth === 640 && video.getVideoPlaybackQuality().totalVideoFrames > 40;
      })()`),
    );
    await viewer.close();
    await waitUntil(async () => (await publisher.stats()).keyframes >= 3);
    await fetch(publisher.session, { method: 'DELETE' });
    await publisher.page.close();
  });

  test('gets lost packets through', async () => {
    const stream = await server.createStream();
    const proxy = await LossyProxy.start(server.app.webrtcPort!, 0.05);
    const page = await WhipPage.publish(browser(), {
      ...server,
      streamKey: stream.streamKey,
      hasAudio: false,
      changeAnswer: answer =>
        answer.replace(/a=candidate.* tcp .*\r\n/g, '').replace(/( udp \d+ \S+) \d+/g, `$1 ${proxy.port}`),
    });
    await isLive(stream);
    await waitUntil(async () => (await page.stats()).retransmitted > 20);
    await fetch(page.session, { method: 'DELETE' });
    const { packetsLost, packetsRecovered } = closed.at(-1)!;
    expect(packetsLost).toBeGreaterThan(10);
    // The newest ones may still be on their way.
    expect(packetsRecovered).toBeGreaterThanOrEqual(packetsLost - 4);
    await page.page.close();
  });

  test('uses TCP where UDP does not get through; killed, it leaves a broadcast that waits, and can come back', async () => {
    const stream = await server.createStream();
    const killed = await chromium.launchServer({
      executablePath: findChromium().path!,
      args: [...chromiumArguments, ...fakeMediaArguments],
    });
    const client = await chromium.connect(killed.wsEndpoint());
    const page = await WhipPage.publish(client, {
      ...server,
      streamKey: stream.streamKey,
      hasAudio: false,
      changeAnswer: answer => answer.replace(/a=candidate.* udp .*\r\n/g, ''),
    });
    await isLive(stream);
    expect(await page.stats()).toMatchObject({ state: 'connected', protocol: 'tcp' });
    await killed.kill();
    await waitUntil(async () => (await stateOf(stream))?.state === 'waiting');
    const again = await WhipPage.publish(browser(), {
      ...server,
      streamKey: stream.streamKey,
      hasAudio: false,
    });
    await isLive(stream);
    await again.page.close();
  });
});

/** A UDP port in front of another one, which loses packets in both directions. */
class LossyProxy {
  readonly #front: Socket;
  readonly #back = new Map<string, Socket>();
  readonly #random = new Random(6);

  private constructor(front: Socket) {
    this.#front = front;
  }

  static async start(port: number, loss: number): Promise<LossyProxy> {
    const front = createSocket('udp4');
    const proxy = new LossyProxy(front);
    front.on('message', (packet, from) => {
      if (!proxy.#isLost(packet, loss)) proxy.#backOf(from, loss).send(packet, port, '127.0.0.1');
    });
    await new Promise<void>(resolve => front.bind(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      front.close();
      for (const socket of proxy.#back.values()) socket.close();
    });
    return proxy;
  }

  get port(): number {
    return this.#front.address().port;
  }

  #backOf(from: RemoteInfo, loss: number): Socket {
    const key = `${from.address} ${from.port}`;
    const known = this.#back.get(key);
    if (known !== undefined) return known;
    const socket = createSocket('udp4');
    socket.on('message', packet => {
      if (!this.#isLost(packet, loss)) this.#front.send(packet, from.port, from.address);
    });
    this.#back.set(key, socket);
    return socket;
  }

  /** Media and reports only, so that the test is about them. */
  #isLost(packet: Buffer, loss: number): boolean {
    return packet[0]! >= 128 && this.#random.below(1_000) < loss * 1_000;
  }
}
