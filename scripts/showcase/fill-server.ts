import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callApi } from '../api-call.ts';
import { addTextTracks, createTheme } from '../demo-fixtures.ts';
import { type Publisher, runFfmpeg, startPublisher } from '../ffmpeg.ts';
import { type CreatedStream, createLiveStream, createVideo, type ServerProcess } from '../server-process.ts';
import { uploadFile } from '../upload-file.ts';
import type { WatchedMedia } from './viewing-history.ts';

export interface FilmStudio {
  readonly ffmpegPath: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

interface ShownVideo {
  readonly title: string;
  /** One of ffmpeg's sources, with its filters. */
  readonly source: string;
  readonly tags: readonly string[];
  readonly weight: number;
  readonly seconds: number;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

const gradient = (colors: string) => `gradients=size=1280x720:rate=25:nb_colors=4:speed=0.02:${colors}`;
const main: ShownVideo = {
  title: 'Morning over the valley',
  source: gradient('c0=0x5c80c4:c1=0xffd6aa:c2=0xb0a4c4:c3=0x1e3442'),
  tags: ['landscape', 'series one'],
  weight: 40,
  seconds: 48,
  attributes: {
    description: 'A slow walk along the ridge while the sun comes up. Filmed in one take.',
    metadata: [
      { key: 'season', value: '1' },
      { key: 'episode', value: '3' },
    ],
  },
};
const videos: readonly ShownVideo[] = [
  {
    title: 'The game of life',
    source:
      'life=size=160x90:rate=25:mold=12:ratio=0.12:death_color=#C83232:life_color=#3ad29f:mold_color=#12324a,scale=640:360:flags=neighbor',
    tags: ['mathematics', 'loop'],
    weight: 8,
    seconds: 24,
  },
  {
    title: 'Northern lights, slowly',
    source: gradient('c0=0x0b1f4b:c1=0x1fb6a6:c2=0x6a3fb5:c3=0x0a0f2c'),
    tags: ['night', 'loop'],
    weight: 10,
    seconds: 24,
  },
  {
    title: 'Autumn ridge',
    source: gradient('c0=0xfcecce:c1=0xcea87a:c2=0x682a14:c3=0x8cbad6'),
    tags: ['landscape', 'series one'],
    weight: 14,
    seconds: 24,
    attributes: { public: false },
  },
  {
    title: 'Into the Mandelbrot set',
    source: 'mandelbrot=size=640x360:rate=25:end_pts=500',
    tags: ['mathematics'],
    weight: 16,
    seconds: 24,
  },
  main,
];
const captions = {
  en: [
    'The ridge before sunrise.',
    'The mist stays in the valleys.',
    'The first light.',
    'And the day begins.',
  ],
  fr: [
    'La crête avant l’aube.',
    'La brume reste dans les vallées.',
    'La première lumière.',
    'Le jour se lève.',
  ],
};
const chapters = ['Before sunrise', 'Mist', 'First light', 'Day'];
const liveWithinMs = 30_000;
const pollMs = 500;

/** Ids of the resources that the pictures show. */
export interface Library {
  readonly videoId: string;
  readonly playerId: string;
  readonly stream: CreatedStream;
  readonly media: readonly WatchedMedia[];
}

/** Fills a server through its API: live streams with a recorded broadcast, videos, themes, keys and tokens. */
export async function fillServer(server: ServerProcess, studio: FilmStudio): Promise<Library> {
  const { baseUrl, productionKey } = server;
  await createLiveStream(baseUrl, productionKey, 'Monday meeting', { public: false });
  const recorded = await createLiveStream(baseUrl, productionKey, 'Studio two');
  const stream = await createLiveStream(baseUrl, productionKey, 'Sunset from the ridge');
  const publisher = await goLive(server, studio, recorded);
  await sleep(20_000, undefined, { signal: studio.signal });
  await publisher.stop();
  await callApi(server, 'PUT', `/live-streams/${recorded.liveStreamId}/complete`);

  const playerId = await createTheme(server, 'Sunrise');
  await callApi(server, 'POST', '/players', {
    name: 'Wall screen',
    enableControls: false,
    forceLoop: true,
    hideTitle: true,
  });
  await callApi(server, 'POST', '/account/api-keys', { name: 'Website' });
  await callApi(server, 'POST', '/upload-tokens', { ttl: 86_400 });
  const media: WatchedMedia[] = [];
  for (const video of videos) {
    const { title, tags, attributes, seconds, weight } = video;
    const videoId = await uploadVideo(server, studio, video.source, seconds, {
      title,
      tags,
      ...(video === main ? { playerId } : {}),
      ...attributes,
    });
    media.push({ mediaId: videoId, type: 'video', seconds, weight });
  }
  const videoId = media.at(-1)!.mediaId;
  await addTextTracks(server, videoId, captions, chapters, main.seconds / chapters.length);
  return { videoId, playerId, stream, media };
}

/** Makes a film and uploads it as a new video; returns the video's id. */
export async function uploadVideo(
  server: ServerProcess,
  studio: FilmStudio,
  source: string,
  seconds: number,
  attributes: Readonly<Record<string, unknown>> & { readonly title: string },
): Promise<string> {
  const path = join(studio.folder, 'film.mp4');
  await runFfmpeg(
    studio.ffmpegPath,
    [...['-f', 'lavfi', '-i', source], ...tone, '-t', String(seconds), ...codecs, path],
    studio.signal,
  );
  const { videoId } = await createVideo(server.baseUrl, server.productionKey, attributes);
  await uploadFile({
    baseUrl: server.baseUrl,
    apiKey: server.productionKey,
    videoId,
    path,
    signal: studio.signal,
    onProgress: () => {},
  });
  return videoId;
}

/** Publishes to a live stream until it is stopped; resolves once the stream is live. */
export async function goLive(
  server: ServerProcess,
  { ffmpegPath }: FilmStudio,
  stream: CreatedStream,
): Promise<Publisher> {
  const address = `rtmp://127.0.0.1:${server.rtmpPort}/s/${stream.streamKey}`;
  const input = ['-re', '-f', 'lavfi', '-i', main.source, ...tone];
  const rate = ['-b:v', '3M', '-minrate', '3M', '-maxrate', '3M', '-bufsize', '3M', '-bf', '0'];
  const constant = ['-x264-params', 'nal-hrd=cbr'];
  const publisher = startPublisher(ffmpegPath, [...input, ...codecs, ...rate, ...constant], address);
  const deadlineMs = performance.now() + liveWithinMs;
  for (;;) {
    const path = `/live-streams/${stream.liveStreamId}`;
    const { broadcasting } = await callApi<{ broadcasting: boolean }>(server, 'GET', path);
    if (broadcasting) return publisher;
    if (performance.now() > deadlineMs) throw new Error('The live stream does not go live.');
    await sleep(pollMs);
  }
}

const tone = ['-f', 'lavfi', '-i', 'sine=frequency=220:sample_rate=48000', '-filter:a', 'volume=0.05'];
const codecs = [
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-g', '50'],
  ...['-c:a', 'aac', '-b:a', '96k'],
];
