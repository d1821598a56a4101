import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { missingObs, Obs } from '../support/obs.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';

const unknownKey = '5f0f2c1e-7a44-4d0c-9b5e-2f6b1d9c8e37';
/** Version of OBS that sends several audio tracks over SRT. */
const firstWithTracks = 30;

describe.skipIf(missingObs !== undefined)(missingObs ?? 'OBS', () => {
  let server: TestServer;
  let obs: Obs;

  beforeAll(async () => {
    [server, obs] = await Promise.all([
      startServer({ 'live.stopGrace': '60s' }),
      Obs.launch({ streamedAudioTracks: [1, 2] }),
    ]);
  });

  afterAll(async () => {
    await obs?.[Symbol.asyncDispose]();
    await server?.stop();
  });

  const rtmp = () => `rtmp://127.0.0.1:${server.app.rtmpPort}/s`;
  const srt = (streamKey: string) => `srt://127.0.0.1:${server.app.srtPort}?streamid=${streamKey}`;
  const pathOf = ({ liveStreamId }: CreatedStream) => `/live-streams/${liveStreamId}`;

  async function get<Result>(path: string): Promise<Result> {
    return (await (await server.api('GET', path)).json()) as Result;
  }

  /** Waits until the health of the broadcast has this state. */
  async function reaches(stream: CreatedStream, state: string): Promise<Record<string, unknown>> {
    let health: Record<string, unknown> = {};
    return waitUntil(
      async () => {
        health = await get(`${pathOf(stream)}/health`);
        return health.state === state && health;
      },
      { what: () => `the state ${state}, not ${JSON.stringify(health)}; OBS: ${obs.log.slice(-2_000)}` },
    );
  }

  test('goes live over RTMP under its name, and is refused after the end of its broadcast until it is allowed again', async () => {
    const stream = await server.createStream();
    await obs.stream(rtmp(), stream.streamKey);
    await obs.reaches('STARTED');
    const health = await reaches(stream, 'live');
    expect(health).toMatchObject({
      protocol: 'rtmp',
      encoder: expect.stringMatching(/^OBS \d+\.\d+/),
      videoCodec: expect.stringMatching(/^avc1\./),
      audioCodec: 'mp4a.40.2',
      width: 640,
      height: 360,
    });
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 3, 'three segments');

    await server.api('PUT', `${pathOf(stream)}/complete`);
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
    await obs.reaches('RECONNECTING');
    await obs.logs('Stop the encoder for a minute, or choose "Allow again" in the dashboard.');
    expect(await get(pathOf(stream))).toMatchObject({
      broadcasting: false,
      refusedEncoder: { name: health.encoder, address: '127.0.0.1' },
    });

    await server.api('PUT', `${pathOf(stream)}/allow-again`);
    await obs.reaches('RECONNECTED');
    const next = await reaches(stream, 'live');
    expect(next.broadcastId).not.toBe(health.broadcastId);
    await obs.stop();
    await reaches(stream, 'stopping');
  });

  // OBS shows a message then. Otherwise it would try again, without one.
  test.each([
    ['RTMP', () => rtmp(), "The stream key is not known. Check the key in your encoder's settings."],
    ['SRT', () => srt(unknownKey), 'Connection rejected, wrong password or invalid URL'],
  ])('stops when its key is wrong, and logs the reason: %s', async (_, address, reason) => {
    await obs.stream(address(), unknownKey);
    await obs.reaches('STOPPED');
    expect(obs.states).not.toContain('RECONNECTING');
    await obs.logs(reason);
  });

  test('goes live over SRT with its audio tracks, and continues its broadcast when it is stopped and started', async () => {
    const stream = await server.createStream();
    await obs.stream(srt(stream.streamKey));
    await obs.reaches('STARTED');
    const { broadcastId, ...health } = await reaches(stream, 'live');
    expect(health).toMatchObject({ protocol: 'srt', transport: { packetsReceived: expect.any(Number) } });
    const { obsVersion } = await obs.request<{ obsVersion: string }>('GetVersion');
    const audioTracks = Number.parseInt(obsVersion, 10) < firstWithTracks ? 1 : 2;
    const tracks = async () => (await reaches(stream, 'live')).tracks as { kind: string }[];
    await waitUntil(async () => (await tracks()).length === 1 + audioTracks, {
      what: () => `${audioTracks} audio tracks; OBS: ${obs.log.slice(-2_000)}`,
    });
    for (let times = 0; times < 3; times += 1) {
      await obs.stop();
      await obs.stream(srt(stream.streamKey));
      await obs.reaches('STARTED');
      expect(obs.states).not.toContain('RECONNECTING');
      expect(await reaches(stream, 'live')).toMatchObject({ broadcastId });
    }
    await obs.stop();
  });
});
