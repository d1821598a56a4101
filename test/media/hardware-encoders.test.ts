import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { type FakeHardware, makeFakeHardware } from '../support/fake-hardware.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { fixture } from '../support/fixtures.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

interface EncoderState {
  readonly kind: string;
  readonly reason?: string;
}

const liveSteps = ({ width, height }: { width: number; height: number }) =>
  [90, height].map(lines => ({
    name: `${lines}p`,
    width: Math.round((width * lines) / height / 2) * 2,
    height: lines,
    bitsPerSecond: 300_000,
  }));

async function startWith(fake: FakeHardware): Promise<TestServer> {
  const flags = {
    'ffmpeg.path': fake.ffmpegPath,
    'encode.hardware': 'nvenc',
    'encode.preset': 'ultrafast',
    'live.qualities': 'ladder',
  } as const;
  const server = await startServer(flags, { liveSteps, hasImages: false });
  await waitUntil(() => server.app.encoders.state.kind === 'nvenc', {
    what: 'the test of the hardware encoder',
  });
  return server;
}

async function expectLadder(server: TestServer): Promise<void> {
  const { streamKey, liveStreamId } = await server.createStream();
  await using _publisher = publishTestPicture({ url: server.rtmpUrl(streamKey), gopSeconds: 1 });
  const playlistOf = async (path: string) =>
    (await fetch(`${server.baseUrl}/${liveStreamId}${path}`)).text().catch(() => '');
  await waitUntil(async () => (await playlistOf('.m3u8')).includes('90p'), { what: 'the lower rendition' });
  const [uri = ''] = /^.*90p.*$/m.exec((await playlistOf('.m3u8')).replaceAll(/^#.*$/gm, '')) ?? [];
  await waitUntil(
    async () => (await (await fetch(new URL(uri, `${server.baseUrl}/`))).text()).includes('#EXTINF'),
    { what: 'a segment of the lower rendition' },
  );
}

async function expectVideo(server: TestServer): Promise<void> {
  const { videoId } = (await (await server.api('POST', '/videos', { title: 'A film' })).json()) as {
    videoId: string;
  };
  const form = new FormData();
  form.append('file', new Blob([await readFile(await fixture('hevc'))]), 'film.mp4');
  await fetch(`${server.baseUrl}/videos/${videoId}/source`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` },
    body: form,
  });
  let encoding: { qualities: { type: string; status: string }[] } | undefined;
  await waitUntil(
    async () => {
      const status = await (await server.api('GET', `/videos/${videoId}/status`)).json();
      encoding = (status as { encoding: NonNullable<typeof encoding> }).encoding;
      const { qualities } = encoding;
      return qualities.length > 0 && qualities.every(({ status }) => status === 'encoded');
    },
    { what: () => `the renditions of the video: ${JSON.stringify(encoding)}`, timeoutMs: encodeTimeoutMs },
  );
}

describe.concurrent('a hardware encoder', () => {
  test('encodes live streams and videos', async () => {
    const fake = await makeFakeHardware(await testTempDir());
    await using server = await startWith(fake);
    await fake.breakDown('software');
    await Promise.all([expectLadder(server), expectVideo(server)]);
    expect(server.app.encoders.state).toEqual({ kind: 'nvenc' });
  });

  test.each([
    ['live streams', expectLadder],
    ['videos', expectVideo],
  ])('that fails leaves its %s to software', async (_name, expectEncoded) => {
    const fake = await makeFakeHardware(await testTempDir());
    await using server = await startWith(fake);
    await fake.breakDown('hardware');
    await expectEncoded(server);
    expect(server.app.encoders.state).toEqual({
      kind: 'software',
      reason: expect.stringMatching(/^nvenc failed, .*out of memory/s),
    });
  });
});

test('a hardware encoder that does not work is not used', async () => {
  const fake = await makeFakeHardware(await testTempDir());
  await fake.breakDown('hardware');
  await using server = await startServer({ 'ffmpeg.path': fake.ffmpegPath, 'encode.hardware': 'nvenc' });
  await waitUntil(() => server.app.encoders.state.reason?.includes('out of memory') === true);
  const state = (await (await server.api('GET', '/server')).json()) as { encoder: EncoderState };
  expect(state.encoder.kind).toBe('software');
});
