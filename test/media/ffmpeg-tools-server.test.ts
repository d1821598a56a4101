import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { ffmpegPath, publishTestPicture } from '../support/ffmpeg.ts';
import { fixture } from '../support/fixtures.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const liveSteps = () => [{ name: '90p', width: 160, height: 90, bitsPerSecond: 300_000 }];

/** Says that it is ffmpeg 5.1, and notes its work in empty folders, since encoders may write no files. */
async function makeOlderFfmpeg(folder: string): Promise<{ path: string; works: () => Promise<string[]> }> {
  const path = join(folder, 'ffmpeg');
  const works = join(folder, 'works');
  const libraries = ['libx264', 'libx265', 'libsvtav1', 'libdav1d', 'libzimg'];
  const script = `#!/bin/sh
case "$*" in
  *-version*)
    echo 'ffmpeg version 5.1 Copyright'
    echo 'configuration: ${libraries.map(library => `--enable-${library}`).join(' ')}'
    echo 'libavformat    59. 27.100 / 59. 27.100'
    exit ;;
esac
case "$*" in
  *'-i pipe:0'*'-c:v libx264'*) mkdir -p '${works}/broadcast' ;;
  *'-i file:'*'-c:v libx264'*) mkdir -p '${works}/file' ;;
esac
exec '${ffmpegPath}' "$@"
`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  await mkdir(works);
  return { path, works: () => readdir(works) };
}

async function encodeVideo(server: TestServer): Promise<void> {
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
  let status = '';
  await waitUntil(
    async () => {
      status = await (await server.api('GET', `/videos/${videoId}/status`)).text();
      return /"status":"encoded"/.test(status) && !/"status":"(waiting|encoding)"/.test(status);
    },
    { what: () => `the renditions of the video: ${status}`, timeoutMs: encodeTimeoutMs },
  );
}

async function publishLadder(server: TestServer): Promise<void> {
  const { streamKey, liveStreamId } = await server.createStream();
  await using _publisher = publishTestPicture({ url: server.rtmpUrl(streamKey), gopSeconds: 1 });
  await waitUntil(
    async () => (await (await fetch(`${server.baseUrl}/${liveStreamId}.m3u8`)).text()).includes('90p'),
    { what: 'the rendition of the live stream' },
  );
}

test('the ffmpeg of the distribution works on live streams and uploaded files, although the embedded one is newer', async () => {
  const folder = await testTempDir();
  const older = await makeOlderFfmpeg(folder);
  await using server = await startServer(
    { 'live.qualities': 'ladder', 'encode.preset': 'ultrafast', 'encode.hardware': 'off' },
    { liveSteps, hasImages: false, variables: { ...process.env, PATH: `${folder}:${process.env.PATH}` } },
  );
  const { programs } = (await (await server.api('GET', '/server')).json()) as { programs: unknown[] };
  expect(programs).toMatchObject([{ name: 'ffmpeg', path: older.path, version: '5.1' }, { name: 'ffprobe' }]);
  await publishLadder(server);
  expect(await older.works()).toEqual(['broadcast']);
  await encodeVideo(server);
  expect(await older.works()).toEqual(['broadcast', 'file']);
});
