import { createPrivateKey } from 'node:crypto';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { startReceiver } from '../service/webhook-fixture.ts';
import { recordAudioTags } from '../support/audio-tags.ts';
import { chromiumArguments, findChromium } from '../support/chromium.ts';
import { playerAlone } from '../support/player-page.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { signToken } from '../support/sign-token.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, playerScript, until, WatchedPage } from './browser-fixture.ts';

interface Playback {
  readonly isWebRtc: boolean;
  readonly frames: number;
  readonly time: number;
  readonly phase: string;
  readonly latencySeconds: number;
}

const readPlayback = `(() => {
  const video = inPlayer('video');
  return {
    isWebRtc: video.srcObject !== null,
    frames: video.getVideoPlaybackQuality().totalVideoFrames,
    time: video.currentTime,
    phase: millrace.state(),
    latencySeconds: millrace.latencySeconds() ?? -1,
  };
})()`;
/** Connections are the page's own, so they are noted as they are made. */
const noteConnections = `
  window.connections = [];
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...all) {
      super(...all);
      connections.push(this);
    }
  };
`;
const readSamples = `(async () => {
  const stats = [...(await connections[0].getStats()).values()];
  return stats.find(each => each.type === 'inbound-rtp' && each.kind === 'audio')?.totalSamplesReceived ?? 0;
})()`;
const seconds = 120;
/** HLS ends its bar a moment before the newest picture. */
const toleranceMs = 4000;

describeInBrowser('ultra low latency', browser => {
  let server: TestServer;
  let video: FlvTag[];
  let opus: FlvTag[];
  beforeAll(async () => {
    [server, video, opus] = await Promise.all([
      startServer({ 'live.stopGrace': '100ms', allowPrivateTargets: 'true' }),
      recordTags({ seconds, extraArgs: ['-an', '-bf', '0'] }),
      recordAudioTags('Opus', seconds, ['-c:a', 'libopus', '-b:a', '64k', '-ac', '2']),
    ]);
  });
  afterAll(() => server.stop());

  async function publish(audio: readonly FlvTag[], isUltraLow = true) {
    const stream = await server.createStream();
    const path = `/live-streams/${stream.liveStreamId}`;
    const changed = await server.api('PATCH', path, { ultraLowLatency: isUltraLow });
    expect(changed.status).toBe(200);
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    await client.publish(stream.streamKey);
    const tags = [...video.filter(({ kind }) => kind !== 'script'), ...audio].toSorted(
      (one, other) => one.timestampMs - other.timestampMs,
    );
    const signal = new AbortController();
    const sent = replay(client, tags, { signal: signal.signal });
    const stop = async () => {
      signal.abort();
      await sent;
      await client.close();
    };
    return { stream, stop };
  }

  async function watch(
    { liveStreamId }: CreatedStream,
    { query = '', ultraLowLatency = true } = {},
  ): Promise<WatchedPage> {
    // Chosen before the first visit, so that every request of a player is one of this choice.
    const viewer = await WatchedPage.open(browser(), `${server.baseUrl}/health`);
    await viewer.page.addInitScript(noteConnections);
    const settings = JSON.stringify({ ultraLowLatency });
    await viewer.page.evaluate(`localStorage.setItem('millrace.player', '${settings}')`);
    await viewer.page.goto(playerAlone(`${server.baseUrl}/live/${liveStreamId}${query}`));
    return viewer;
  }

  const read = ({ page }: WatchedPage) => page.evaluate<Playback>(readPlayback);
  const openLatency = async (viewer: WatchedPage) => {
    await viewer.pointAtControls();
    await viewer.page.click('#settings');
  };
  const isPlaying = (viewer: WatchedPage, isWebRtc: boolean) =>
    until(isWebRtc ? 'frames over WebRTC' : 'frames over HLS', async () => {
      const playback = await read(viewer);
      return playback.isWebRtc === isWebRtc && playback.frames > 20 && playback.phase === 'live';
    });

  it('plays over WebRTC with audio, is a choice in the menu, and ends with the broadcast', async () => {
    const { stream, stop } = await publish(opus);
    await using viewer = await watch(stream);
    await isPlaying(viewer, true);
    await until('audio', async () => (await viewer.page.evaluate<number>(readSamples)) > 20_000);
    await until('a latency', async () => (await read(viewer)).latencySeconds > 0);
    const response = await server.api('GET', `/live-streams/${stream.liveStreamId}`);
    expect(await response.json()).toMatchObject({ ultraLowLatency: true });
    await openLatency(viewer);
    await viewer.page.click('text=Low latency >> nth=0');
    await isPlaying(viewer, false);
    await openLatency(viewer);
    await viewer.page.click('text=Ultra low latency');
    await isPlaying(viewer, true);
    await stop();
    await until('the end', async () => (await read(viewer)).phase === 'ended');
    // The page was open before the broadcast could be played over HLS.
    expect(viewer.complaints.filter(text => !/preload|404/.test(text))).toEqual([]);
  });

  it.each([
    ['WebRTC', true],
    ['HLS', false],
  ])('plays with a signed token over %s until it is refused, and says why', async (_, ultraLowLatency) => {
    const { stream, stop } = await publish(opus);
    const { liveStreamId } = stream;
    await server.api('PATCH', `/live-streams/${liveStreamId}`, { public: false });
    const made = await server.api('POST', '/account/signing-keys', { name: 'Website' });
    const { signingKeyId, privateKey } = (await made.json()) as Record<string, string>;
    const key = {
      id: signingKeyId!,
      algorithm: 'ES256' as const,
      privateKey: createPrivateKey(privateKey!),
    };
    const exp = Math.floor(Date.now() / 1000) + 3600;
    const token = await signToken(key, { sub: liveStreamId, exp });
    await using viewer = await watch(stream, { query: `?token=${token}`, ultraLowLatency });
    await isPlaying(viewer, ultraLowLatency);
    await server.api('DELETE', `/account/signing-keys/${signingKeyId}`);
    await viewer.page.getByText('it was revoked').waitFor();
    await stop();
  });

  it.each([
    ['WebRTC', true],
    ['HLS', false],
  ])('shows the text of a play hook that refuses a viewer of %s', async (_, ultraLowLatency) => {
    const { stream, stop } = await publish(opus);
    const receiver = await startReceiver();
    let isAllowed = true;
    receiver.answer = (_, response) => {
      if (isAllowed) response.end('{"ttl":1}');
      else response.writeHead(402).end('{"message":"Your ticket has ended."}');
    };
    await server.api('PUT', '/hooks/play', { url: receiver.url });
    // Changes are seen within a second.
    const askAgain = (userAgent: string) =>
      fetch(`${server.baseUrl}/live/${stream.liveStreamId}`, { headers: { 'user-agent': userAgent } });
    onTestFinished(async () => {
      await server.api('DELETE', '/hooks/play');
      await until('no hook', async () => (await askAgain('After')).ok);
    });
    await until('the hook', async () => {
      await askAgain('Before');
      return receiver.hooks.length > 0;
    });
    await using viewer = await watch(stream, { ultraLowLatency });
    await isPlaying(viewer, ultraLowLatency);
    isAllowed = false;
    // A hook is not asked during WebRTC, only when the viewer connects again.
    if (ultraLowLatency) await viewer.page.keyboard.press('ArrowLeft');
    await viewer.page.getByText('This stream can’t be played').waitFor();
    await viewer.page.getByText('Your ticket has ended.').waitFor();
    expect((await read(viewer)).phase).toBe('refused');
    const reloaded = await viewer.page.reload();
    expect(reloaded?.status()).toBe(403);
    await viewer.page.getByText('Your ticket has ended.').waitFor();
    await stop();
  });

  it('goes back with HLS, to live with WebRTC, and falls back to HLS when the live stream turns it off', async () => {
    const { stream, stop } = await publish(opus);
    await using viewer = await watch(stream);
    await isPlaying(viewer, true);
    expect(viewer.requests.filter(url => url.includes('.m3u8'))).toEqual([]);
    await viewer.page.keyboard.press('ArrowLeft');
    await isPlaying(viewer, false);
    const liveButton = viewer.page.locator('#live');
    await until(
      'the way back to live',
      async () => (await liveButton.textContent())?.includes('Go to live') === true,
    );
    await viewer.pointAtControls();
    await liveButton.click();
    await isPlaying(viewer, true);
    const path = `/live-streams/${stream.liveStreamId}`;
    await server.api('PATCH', path, { ultraLowLatency: false });
    await isPlaying(viewer, false);
    await stop();
  });

  it('keeps the seek bar over WebRTC, plays HLS where it is dragged to, and WebRTC again at its end', async () => {
    const { stream, stop } = await publish(opus);
    await using viewer = await watch(stream);
    const { page } = viewer;
    await isPlaying(viewer, true);
    const bar = page.locator('#seek');
    await until('a bar of 20 s', async () => {
      await page.mouse.move(640, 100);
      return bar.isVisible();
    });
    expect(viewer.requests.filter(url => url.includes('.m3u8'))).toEqual([]);
    const slider = page.locator('#seek input');
    const spoken = () => slider.getAttribute('aria-valuetext');
    expect(await spoken()).toBe('Live');
    const box = (await bar.boundingBox())!;
    const y = box.y + box.height / 2;
    const placeOf = (behindSeconds: number) =>
      page.evaluate<number>(
        `(({ seekable }) => ${box.x} + ${box.width} * (1 - ${behindSeconds} / (seekable.end(0) - seekable.start(0))))(inPlayer('millrace-video'))`,
      );
    const shown = () => page.textContent('#preview-time');
    // The bar grows, and controls hide while a busy machine is slow.
    await until('the time and the picture under the pointer', async () => {
      const x = await placeOf(16);
      await page.mouse.move(x - 1, y - 1);
      await page.mouse.move(x, y);
      const picture = page.locator('.preview media-preview-thumbnail[mediapreviewimage]');
      return (await picture.isVisible()) && /^−0:1[567] · \d/.test((await shown()) ?? '');
    });
    await page.mouse.down();
    await page.mouse.move(await placeOf(12), y, { steps: 3 });
    expect((await read(viewer)).isWebRtc).toBe(true);
    // Noted in each frame: the bar neither hides nor jumps while HLS is loaded.
    await page.evaluate(`(() => {
      window.bars = [];
      const note = () => {
        const range = inPlayer('#seek').range;
        bars.push({ isHidden: inPlayer('#seek').hidden, value: range.valueAsNumber });
        requestAnimationFrame(note);
      };
      note();
    })()`);
    const dateOf = (position: string) =>
      page.evaluate<number>(`+inPlayer('millrace-video').dateAt(${position})`);
    const wantedMs = await dateOf(`inPlayer('#player').mediaStore.getState().mediaPreviewTime`);
    const releasedAtMs = Date.now();
    await page.mouse.up();
    await isPlaying(viewer, false);
    const shownMs = await dateOf(`inPlayer('video').currentTime`);
    expect(shownMs).toBeGreaterThan(wantedMs - toleranceMs);
    expect(shownMs).toBeLessThan(wantedMs + Date.now() - releasedAtMs + toleranceMs);
    expect(await page.textContent('#live-text')).toBe('Go to live');
    const bars = await page.evaluate<{ isHidden: boolean; value: number }[]>('bars');
    expect(bars.filter(({ isHidden }) => isHidden)).toEqual([]);
    expect(Math.max(...bars.map(({ value }) => value))).toBeLessThan(0.9);
    expect(Math.min(...bars.map(({ value }) => value))).toBeGreaterThan(0.05);
    await slider.focus();
    await page.keyboard.press('End');
    await isPlaying(viewer, true);
    await until('the live edge', async () => (await spoken()) === 'Live');
    expect(await bar.isVisible()).toBe(true);
    await stop();
    expect(viewer.complaints.filter(text => !/preload|404/.test(text))).toEqual([]);
  });

  it('falls back to HLS in a browser that does not connect to 127.0.0.1, and says why in the menu', async () => {
    const { stream, stop } = await publish(opus);
    const viewer = await WatchedPage.open(browser(), `${server.baseUrl}/health`);
    await using _ = viewer;
    // Gathers no candidate for it, like Firefox.
    await viewer.page.addInitScript(`
      window.RTCPeerConnection = class extends RTCPeerConnection {
        constructor() { super({ iceTransportPolicy: 'relay' }); }
      };
    `);
    await viewer.page.evaluate(`localStorage.setItem('millrace.player', '{"ultraLowLatency":true}')`);
    await viewer.page.goto(playerAlone(`${server.baseUrl}/live/${stream.liveStreamId}`));
    await isPlaying(viewer, false);
    await openLatency(viewer);
    await viewer.page.getByText('the server listens on 127.0.0.1 only').waitFor();
    await stop();
  });

  it('falls back to HLS for audio that browsers do not play over WebRTC, and says why', async () => {
    const aac = await recordTags({ seconds, extraArgs: ['-vn'] });
    const { stream, stop } = await publish(aac.filter(({ kind }) => kind === 'audio'));
    await using viewer = await watch(stream);
    await isPlaying(viewer, false);
    const address = `${server.baseUrl}/whep/${stream.liveStreamId}`;
    const refused = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/sdp' } });
    expect(refused.status).toBe(406);
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('must be Opus') });
    await stop();
  });

  it('ends with the live stream that is deleted', async () => {
    const { stream, stop } = await publish(opus);
    await using viewer = await watch(stream);
    await isPlaying(viewer, true);
    expect((await server.api('DELETE', `/live-streams/${stream.liveStreamId}`)).status).toBe(204);
    await until('the end', async () => (await read(viewer)).phase !== 'live');
    await until('no frames', async () => !(await read(viewer)).isWebRtc);
    await stop();
  });

  it('frees the place of a viewer whose browser is killed', async () => {
    const { stream, stop } = await publish(opus);
    const killed = await chromium.launchServer({
      executablePath: findChromium().path!,
      args: [...chromiumArguments],
    });
    onTestFinished(() => killed.kill());
    const page = await (await chromium.connect(killed.wsEndpoint())).newPage();
    await page.addInitScript(playerScript);
    await page.addInitScript(`localStorage.setItem('millrace.player', '{"ultraLowLatency":true}')`);
    const opened = page.waitForResponse(answer => answer.url().includes('/whep/') && answer.status() === 201);
    await page.goto(playerAlone(`${server.baseUrl}/live/${stream.liveStreamId}`));
    const session = new URL((await opened).headers().location!, server.baseUrl);
    const exists = async () => (await fetch(session, { method: 'PATCH' })).status !== 404;
    await until('frames', async () => (await page.evaluate<Playback>(readPlayback)).frames > 20);
    expect(await exists()).toBe(true);
    await killed.kill();
    await until('the end of the session', async () => !(await exists()));
    await stop();
  });
});
