import { join } from 'node:path';
import { basicAuthorization, createLiveStream, createVideo } from '../../scripts/server-process.ts';
import { uploadFile } from '../../scripts/upload-file.ts';
import { ffmpegPath, publishTestPicture, runToEnd } from './ffmpeg.ts';
import { waitUntil } from './wait-until.ts';

interface PlayingServer {
  readonly baseUrl: string;
  readonly rtmpPort: number;
  readonly productionKey: string;
}

/** Publishes a test picture and reads frames of it back. */
export async function playsLive({ baseUrl, rtmpPort, productionKey }: PlayingServer): Promise<void> {
  const { streamKey, assets } = await createLiveStream(baseUrl, productionKey, 'A test');
  await using _publisher = publishTestPicture({ url: `rtmp://127.0.0.1:${rtmpPort}/s/${streamKey}` });
  const playlist = new URL(new URL(assets.hls).pathname, baseUrl).href;
  await waitUntil(async () => (await fetch(playlist)).ok);
  const input = ['-v', 'error', '-i', playlist];
  const frames = await runToEnd(ffmpegPath, [...input, '-frames:v', '5', '-f', 'framecrc', '-']);
  if (!/^0, /m.test(frames)) throw new Error(`The live stream has no frames: ${frames}`);
}

/** Uploads a video from `folder`, and waits until it is playable. */
export async function playsVideo({ baseUrl, productionKey }: PlayingServer, folder: string): Promise<void> {
  const path = join(folder, 'film.mp4');
  await runToEnd(ffmpegPath, [
    '-y',
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=320x180:duration=2',
    path,
  ]);
  const { videoId } = await createVideo(baseUrl, productionKey, { title: 'A test' });
  const signal = new AbortController().signal;
  await uploadFile({ baseUrl, apiKey: productionKey, videoId, path, signal, onProgress: () => {} });
  const headers = { authorization: basicAuthorization(productionKey) };
  await waitUntil(async () => {
    const status = await fetch(`${baseUrl}/videos/${videoId}/status`, { headers });
    return ((await status.json()) as { encoding: { playable: boolean } }).encoding.playable;
  });
}
