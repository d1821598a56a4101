import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ffmpegPath, ffprobe, publishTestPicture, startPublisher } from '../support/ffmpeg.ts';
import { freePort } from '../support/free-port.ts';
import { nginxMissing, startNginx } from '../support/nginx.ts';
import { startRtspServer } from '../support/rtsp-server.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type DecodedFrame, decodeVideo } from './decoded.ts';

interface Source {
  readonly state: string;
  readonly reason?: string;
  readonly nextAttemptAt?: string;
}

interface Stream {
  readonly liveStreamId: string;
  readonly streamKey: string;
  readonly broadcasting: boolean;
  readonly assets: { readonly hls: string };
  readonly source?: Source;
}

const picture = ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25'];
const tone = ['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=8000'];
const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25'];

let server: TestServer;

beforeAll(async () => {
  server = await startServer({
    allowPrivateTargets: 'true',
    'live.reconnectGrace': '3s',
    'live.stopGrace': '1s',
  });
});

afterAll(() => server?.stop());

async function pull(url: string): Promise<Stream> {
  const answer = await server.api('POST', '/live-streams', { name: 'A camera', source: { url } });
  const stream = (await answer.json()) as Stream;
  expect(answer.status, JSON.stringify(stream)).toBe(200);
  return stream;
}

async function read({ liveStreamId }: Stream): Promise<Stream> {
  return (await (await server.api('GET', `/live-streams/${liveStreamId}`)).json()) as Stream;
}

async function untilState(stream: Stream, state: string): Promise<Stream> {
  let last: Stream | undefined;
  return waitUntil(
    async () => {
      last = await read(stream);
      return last.source?.state === state ? last : undefined;
    },
    { what: () => `the state ${state} instead of ${JSON.stringify(last?.source)}` },
  );
}

/** Frames and times that ffmpeg decodes from the live playlist. */
async function decode(stream: Stream): Promise<DecodedFrame[]> {
  await waitUntil(async () => (await segmentsOf(stream)).length >= 2, { what: 'two segments' });
  return decodeVideo(stream.assets.hls, ['-live_start_index', '-2'], ['-frames:v', '50']);
}

async function segmentsOf({ assets }: Stream): Promise<string[]> {
  const lines = async (url: string) => (await (await fetch(url)).text()).split('\n');
  const variant = (await lines(assets.hls)).find(line => line !== '' && !line.startsWith('#'));
  if (variant === undefined) return [];
  return (await lines(new URL(variant, assets.hls).href)).filter(line => line.startsWith('segment-'));
}

/** Expects frames 40 ms apart. */
function expectSteady(frames: readonly DecodedFrame[]): void {
  expect(frames).toHaveLength(50);
  const times = frames.map(({ seconds }) => seconds);
  const steps = times.slice(1).map((seconds, index) => Math.round(1000 * (seconds - times[index]!)));
  expect(steps).toEqual(steps.map(() => 40));
  // Allows repeated hashes: some frames of the pattern are alike.
  expect(new Set(frames.map(({ hash }) => hash)).size).toBeGreaterThan(40);
}

async function remove({ liveStreamId }: Stream): Promise<void> {
  await server.api('DELETE', `/live-streams/${liveStreamId}`);
}

async function health({ liveStreamId }: Stream): Promise<Record<string, unknown>> {
  return (await (await server.api('GET', `/live-streams/${liveStreamId}/health`)).json()) as Record<
    string,
    unknown
  >;
}

describe.concurrent('a source', () => {
  it('over RTSP, with a password, B-frames and G.711 audio', async () => {
    await using camera = await startRtspServer('p:ss');
    await using recorder = startPublisher(ffmpegPath, [
      ...[
        ...picture,
        ...tone,
        ...x264,
        '-bf',
        '2',
        '-c:a',
        'pcm_alaw',
        '-f',
        'rtsp',
        '-rtsp_transport',
        'tcp',
      ],
      `rtsp://127.0.0.1:${camera.port}/record`,
    ]);
    await waitUntil(() => camera.sdp !== '', { what: 'the recorder' });
    const stream = await pull(`rtsp://viewer:p%3Ass@127.0.0.1:${camera.port}/cam/1`);
    const live = await untilState(stream, 'live');
    expect(live.source?.reason).toBeUndefined();
    expectSteady(await decode(stream));
    expect(await health(stream)).toMatchObject({ protocol: 'pull', audioCodec: 'mp4a.40.2' });
    const probe = [
      '-v',
      'error',
      '-select_streams',
      'a',
      '-show_entries',
      'stream=sample_rate',
      '-of',
      'csv=p=0',
    ];
    expect(await ffprobe([...probe, stream.assets.hls])).toMatch(/^48000\s/);
    expect(
      camera.requests.some(request => request === `DESCRIBE rtsp://127.0.0.1:${camera.port}/cam/1`),
    ).toBe(true);
    await remove(stream);
    await waitUntil(() => camera.players === 0, { what: 'the end of the connection' });
    expect(recorder.pid).toBeDefined();
  });

  it('over RTSP, with reports of its clock that are too early or too late, keeps its times', async () => {
    await using camera = await startRtspServer();
    camera.hasUnsteadyReports = true;
    await using _recorder = startPublisher(ffmpegPath, [
      ...[...picture, ...tone, ...x264, '-bf', '2', '-c:a', 'aac', '-f', 'rtsp', '-rtsp_transport', 'tcp'],
      `rtsp://127.0.0.1:${camera.port}/record`,
    ]);
    await waitUntil(() => camera.sdp !== '', { what: 'the recorder' });
    const stream = await pull(`rtsp://127.0.0.1:${camera.port}/cam`);
    await untilState(stream, 'live');
    expectSteady(await decode(stream));
    await remove(stream);
  });

  it('over RTSP is not followed to another address', async () => {
    await using camera = await startRtspServer();
    let connections = 0;
    const other = createServer();
    other.on('connection', () => (connections += 1));
    const port = await listen(other);
    camera.redirectTo = `rtsp://127.0.0.1:${port}/cam`;
    const stream = await pull(`rtsp://127.0.0.1:${camera.port}/cam`);
    expect((await untilState(stream, 'retrying')).source?.reason).toMatch(/redirects to another address/);
    expect(connections).toBe(0);
    other.close();
    await remove(stream);
  });

  it('of MPEG-TS over HTTP, without audio, that goes away and comes back', async () => {
    let status = 200;
    const children = new Set<ChildProcess>();
    const http = createServer((request, answer) => {
      if (status !== 200 || request.url !== '/cam.ts?token=1') {
        answer.writeHead(status === 200 ? 404 : status).end();
        return;
      }
      const child = spawn(ffmpegPath, [
        '-v',
        'error',
        ...picture,
        ...x264,
        '-f',
        'mpegts',
        '-flush_packets',
        '1',
        '-',
      ]);
      children.add(child);
      child.stdout.pipe(answer);
      answer.once('close', () => child.kill('SIGKILL'));
    });
    const stream = await pull(`http://127.0.0.1:${await listen(http)}/cam.ts?token=1`);
    await untilState(stream, 'live');
    expectSteady(await decode(stream));

    // The key is in use.
    const encoder = publishTestPicture({ url: server.rtmpUrl(stream.streamKey) });
    expect((await encoder.exited).code).not.toBe(0);

    status = 503;
    for (const child of children) child.kill('SIGKILL');
    const retrying = await untilState(stream, 'retrying');
    expect(Date.parse(retrying.source!.nextAttemptAt!)).toBeGreaterThan(0);
    await waitUntil(async () => (await read(stream)).source?.reason?.includes('status 503'), {
      what: 'the reason',
    });
    status = 200;
    await untilState(stream, 'live');

    const off = await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, {
      source: { url: 'http://127.0.0.1/cam.ts', enabled: false },
    });
    expect(((await off.json()) as Stream).source).toEqual({
      url: 'http://127.0.0.1/cam.ts',
      enabled: false,
      state: 'off',
    });
    await waitUntil(async () => !(await read(stream)).broadcasting, { what: 'the end of the broadcast' });
    await remove(stream);
    http.close();
  });

  it('of HLS, with its segments behind redirects', async () => {
    const origin = await server.createStream('Origin');
    await using _ = publishTestPicture({ url: server.rtmpUrl(origin.streamKey), fps: 25, gopSeconds: 1 });
    const paths: string[] = [];
    // Serves from another origin: players fetch the playlist here, and everything else where that says.
    const http = createServer((request, answer) => {
      paths.push(request.url ?? '');
      answer.writeHead(302, { location: `${server.baseUrl}${request.url}` }).end();
    });
    const path = `/${origin.liveStreamId}.m3u8`;
    await waitUntil(async () => (await fetch(`${server.baseUrl}${path}`)).status === 200, {
      what: 'the origin',
    });
    const stream = await pull(`http://127.0.0.1:${await listen(http)}${path}`);
    await untilState(stream, 'live');
    expectSteady(await decode(stream));
    expect(paths).toContain(path);
    await remove(stream);
    http.close();
  });

  it('over SRT, with a stream id and a passphrase', async () => {
    const port = await freePort();
    await using sender = startPublisher(ffmpegPath, [
      ...[
        ...picture,
        ...x264,
        '-bf',
        '2',
        '-f',
        'mpegts',
        `srt://127.0.0.1:${port}?mode=listener&passphrase=correct-horse`,
      ],
    ]);
    const stream = await pull(
      `srt://127.0.0.1:${port}?streamid=cam%201&latency=100&passphrase=correct-horse`,
    );
    await untilState(stream, 'live');
    expectSteady(await decode(stream));
    expect(await health(stream)).toMatchObject({
      protocol: 'pull',
      transport: { packetsReceived: expect.any(Number), roundTripMilliseconds: expect.any(Number) },
    });
    await remove(stream);
    // A sender that listens ends with its receiver.
    await sender.exited;
  });

  it.skipIf(nginxMissing() !== undefined)('over RTMP', async () => {
    const folder = await makeTempDir();
    const nginx = await startNginx({ folder, rtmp: 'application live { live on; }' });
    const url = `rtmp://127.0.0.1:${nginx.rtmpPort}/live/cam`;
    const publisher = publishTestPicture({
      url,
      fps: 25,
      gopSeconds: 1,
      extraArgs: ['-tune', 'animation', '-bf', '2'],
    });
    const stream = await pull(url);
    await untilState(stream, 'live');
    expectSteady(await decode(stream));
    await publisher.stop();
    expect((await untilState(stream, 'retrying')).source?.reason).toMatch(/ended|no stream|sent nothing/);
    await remove(stream);
    await nginx.stop();
    await removeDir(folder);
  });

  it('of MPEG-TS with several audio tracks, each of which viewers can choose', async () => {
    const http = createServer((_, answer) => {
      const tracks = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:a:0', 'aac', '-c:a:1', 'aac'];
      const child = spawn(ffmpegPath, [
        ...[
          '-v',
          'error',
          ...picture,
          ...tone,
          ...x264,
          ...tracks,
          '-f',
          'mpegts',
          '-flush_packets',
          '1',
          '-',
        ],
      ]);
      child.stdout.pipe(answer);
      answer.once('close', () => child.kill('SIGKILL'));
    });
    const stream = await pull(`http://127.0.0.1:${await listen(http)}/`);
    await untilState(stream, 'live');
    expectSteady(await decode(stream));
    const multivariant = await (await fetch(stream.assets.hls)).text();
    expect(multivariant.match(/^#EXT-X-MEDIA:TYPE=AUDIO/gm)).toHaveLength(2);
    await remove(stream);
    http.close();
  });

  it('that sends garbage is refused with the reason', async () => {
    const http = createServer((_, answer) => {
      answer.writeHead(200);
      for (let megabytes = 0; megabytes < 9; megabytes++) answer.write(Buffer.alloc(1024 * 1024, 'garbage'));
    });
    const stream = await pull(`http://127.0.0.1:${await listen(http)}/`);
    const { source } = await untilState(stream, 'retrying');
    expect(source?.reason).toMatch(/No MPEG-TS program was received/);
    expect((await read(stream)).broadcasting).toBe(false);
    await remove(stream);
    http.close();
  });
});

async function listen(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1');
  await new Promise(resolve => listener.once('listening', resolve));
  return (listener.address() as AddressInfo).port;
}
