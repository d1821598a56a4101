import { readFile } from 'node:fs/promises';
import { callApi, formWithFile, webVttOf } from '../api-call.ts';
import { createVideo, type ServerProcess } from '../server-process.ts';
import { uploadFile } from '../upload-file.ts';
import { type FilmPlan, type FilmStudio, landscapes, makeFilm, makeMark } from './films.ts';
import type { WatchedMedia } from './past.ts';

interface ShownVideo {
  readonly film: FilmPlan;
  readonly title: string;
  readonly tags: readonly string[];
  readonly weight: number;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

const mainSeconds = 48;
const otherSeconds = 24;
const main: ShownVideo = {
  film: { name: 'morning-over-the-valley', seconds: mainSeconds, picture: landscapes.dawn },
  title: 'Morning over the valley',
  tags: ['landscape', 'series one'],
  weight: 40,
  attributes: {
    description: 'A slow walk along the ridge while the sun comes up. Filmed in one take.',
    metadata: [
      { key: 'season', value: '1' },
      { key: 'episode', value: '3' },
      { key: 'camera', value: 'A' },
    ],
  },
};
const others: readonly ShownVideo[] = [
  {
    film: { name: 'blue-hour', seconds: otherSeconds, picture: landscapes.night },
    title: 'Blue hour',
    tags: ['landscape', 'night'],
    weight: 22,
  },
  {
    film: {
      name: 'into-the-set',
      seconds: otherSeconds,
      picture: 'mandelbrot=size=640x360:rate=25:end_pts=500',
    },
    title: 'Into the Mandelbrot set',
    tags: ['mathematics'],
    weight: 16,
  },
  {
    film: { name: 'autumn-ridge', seconds: otherSeconds, picture: landscapes.autumn },
    title: 'Autumn ridge',
    tags: ['landscape', 'series one'],
    weight: 14,
    attributes: { public: false },
  },
  {
    film: {
      name: 'northern-lights',
      seconds: otherSeconds,
      picture:
        'gradients=size=640x360:rate=25:nb_colors=4:speed=0.02:c0=0x0b1f4b:c1=0x1fb6a6:c2=0x6a3fb5:c3=0x0a0f2c',
    },
    title: 'Northern lights, slowly',
    tags: ['night', 'loop'],
    weight: 10,
  },
  {
    film: {
      name: 'game-of-life',
      seconds: otherSeconds,
      picture:
        'life=size=160x90:rate=25:mold=12:ratio=0.12:death_color=#C83232:life_color=#3ad29f:mold_color=#12324a,scale=640:360:flags=neighbor',
    },
    title: 'The game of life',
    tags: ['mathematics', 'loop'],
    weight: 7,
  },
];

/** A film that is uploaded while pictures are taken: it is seen on its way. */
export const lastFilm: FilmPlan = {
  name: 'dusk-rough-cut',
  seconds: 90,
  picture: { ...landscapes.dusk, seed: 52, sunAt: [0.2, 0.38] },
};

/** What is broadcast. */
export const airFilm: FilmPlan = {
  name: 'on-air',
  seconds: 40,
  picture: landscapes.dusk,
  bitsPerSecond: 3_000_000,
};

/** What can be shown, by its ids. */
export interface Library {
  readonly videoId: string;
  readonly playerId: string;
  readonly media: readonly WatchedMedia[];
}

/** Fills a server through its API: films, words, themes, watermarks, keys, tokens. */
export async function fillLibrary(server: ServerProcess, studio: FilmStudio): Promise<Library> {
  const playerId = await makeThemes(server, studio);
  await makeWatermarks(server, studio);
  await callApi(server, 'POST', '/account/api-keys', { name: 'Website' });
  await callApi(server, 'POST', '/account/api-keys', { name: 'Editing room' });
  await callApi(server, 'POST', '/upload-tokens', { ttl: 86_400 });
  await callApi(server, 'POST', '/upload-tokens', {});
  const media: WatchedMedia[] = [];
  for (const shown of [...others].reverse().concat(main)) {
    const path = await makeFilm(studio, shown.film);
    const { videoId } = await createVideo(server.baseUrl, server.productionKey, {
      title: shown.title,
      tags: shown.tags,
      ...(shown === main ? { playerId } : {}),
      ...shown.attributes,
    });
    await sendFilm(server, studio, videoId, path);
    media.push({ mediaId: videoId, type: 'video', seconds: shown.film.seconds, weight: shown.weight });
  }
  const videoId = media.at(-1)!.mediaId;
  await addWords(server, videoId);
  return { videoId, playerId, media };
}

/** Sends a file to a video. */
export async function sendFilm(
  server: ServerProcess,
  studio: FilmStudio,
  videoId: string,
  path: string,
): Promise<void> {
  await uploadFile({
    ...{ baseUrl: server.baseUrl, apiKey: server.productionKey, videoId, path, signal: studio.signal },
    onProgress: () => {},
  });
}

async function makeThemes(server: ServerProcess, studio: FilmStudio): Promise<string> {
  const accent = 'rgba(255, 138, 92, 1)';
  const { playerId } = await callApi<{ playerId: string }>(server, 'POST', '/players', {
    name: 'Sunrise',
    trackPlayed: accent,
    linkHover: accent,
    linkActive: accent,
  });
  const mark = await readFile(await makeMark(studio, 'sunrise', [255, 138, 92], 96));
  const logo = formWithFile('logo.png', new Uint8Array(mark), 'image/png');
  logo.set('link', 'https://www.example.org/');
  await callApi(server, 'POST', `/players/${playerId}/logo`, logo);
  const calm = 'rgba(95, 212, 189, 1)';
  await callApi(server, 'POST', '/players', { name: 'Calm water', trackPlayed: calm, linkHover: calm });
  await callApi(server, 'POST', '/players', {
    name: 'Wall screen',
    enableControls: false,
    forceAutoplay: true,
    forceLoop: true,
    hideTitle: true,
  });
  return playerId;
}

async function makeWatermarks(server: ServerProcess, studio: FilmStudio): Promise<void> {
  for (const [name, colour] of [
    ['studio', [40, 120, 240]],
    ['partner', [230, 70, 110]],
  ] as const) {
    const image = await readFile(await makeMark(studio, name, colour));
    await callApi(
      server,
      'POST',
      '/watermarks',
      formWithFile(`${name}.png`, new Uint8Array(image), 'image/png'),
    );
  }
}

async function addWords(server: ServerProcess, videoId: string): Promise<void> {
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
  for (const [language, lines] of Object.entries(captions)) {
    await callApi(
      server,
      'POST',
      `/videos/${videoId}/captions/${language}`,
      formWithFile('words.vtt', webVttOf(lines, mainSeconds / lines.length)),
    );
  }
  await callApi(server, 'PATCH', `/videos/${videoId}/captions/en`, { default: true });
  const chapters = webVttOf(['Before sunrise', 'Mist', 'First light', 'Day'], mainSeconds / 4);
  await callApi(server, 'POST', `/videos/${videoId}/chapters/en`, formWithFile('chapters.vtt', chapters));
}
