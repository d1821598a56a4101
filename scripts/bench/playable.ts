import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, withServer } from './bench-context.ts';
import { type FilmOrder, makeFilm, makeTake } from './films.ts';
import { judge, percentile, type Row } from './report.ts';
import { VideoClient, videoServerEnv } from './video-client.ts';

const name = 'playable';
const pollMs = 10;
/** So many segments of the picture and of the sound: what a player wants before it shows the first frame, and a bit. */
const firstSegments = 2;

/** After the last byte was sent, all in milliseconds. */
interface Times {
  readonly answered: number;
  readonly playable: number;
  readonly fetched: number;
}

interface Length {
  readonly what: string;
  readonly seconds: number;
  readonly atMostSeconds: number;
  readonly runs: number;
}

const lengths: Readonly<Record<'short' | 'full', readonly Length[]>> = {
  short: [
    { what: '1 min', seconds: 60, atMostSeconds: 1, runs: 5 },
    { what: '10 min', seconds: 600, atMostSeconds: 1, runs: 3 },
  ],
  full: [
    { what: '10 min', seconds: 600, atMostSeconds: 1, runs: 5 },
    { what: '2 h', seconds: 7200, atMostSeconds: 5, runs: 3 },
  ],
};

/** How long after the last byte of its upload an H.264 and AAC film of 720p can be played. */
export const benchPlayable: Bench = context =>
  withServer(context, videoServerEnv, async server => {
    const client = new VideoClient(server);
    const ffmpeg = context.ffmpeg.path;
    const take = join(context.folder, 'take.mkv');
    await makeTake(ffmpeg, take);
    const rows: Row[] = [];
    for (const { what, seconds, atMostSeconds, runs } of lengths[context.isShort ? 'short' : 'full']) {
      for (const index of ['in front', 'at the end'] as const satisfies FilmOrder['index'][]) {
        const film = await makeFilm(ffmpeg, take, context.folder, { seconds, index });
        const times: Times[] = [];
        while (times.length < runs) times.push(await measure(client, film, seconds));
        await rm(film);
        const row = (step: keyof Times, share: number) =>
          percentile(
            times.map(time => time[step]),
            share,
          ) / 1000;
        const kind = `${what}, index ${index}`;
        rows.push(
          judge(name, {
            what: `${kind}: last byte sent to answered, p50 of ${runs}`,
            value: row('answered', 0.5),
            unit: 's',
          }),
          judge(name, {
            what: `${kind}: last byte sent to playable, p50`,
            value: row('playable', 0.5),
            unit: 's',
          }),
          judge(name, {
            what: `${kind}: last byte sent to first segments received, p50`,
            value: row('fetched', 0.5),
            unit: 's',
            atMost: atMostSeconds,
          }),
          judge(name, {
            what: `${kind}: last byte sent to first segments received, longest`,
            value: row('fetched', 1),
            unit: 's',
          }),
        );
      }
    }
    return rows;
  });

async function measure(client: VideoClient, film: string, seconds: number): Promise<Times> {
  const videoId = await client.create({ mp4Support: false });
  const { sentAtMs, answered } = await client.upload(videoId, film);
  const deadlineMs = sentAtMs + 120_000;
  for (;;) {
    const { encoding } = await client.status(videoId);
    if (encoding.playable) {
      // Else it was encoded, and something else was measured.
      if (!encoding.qualities.some(({ quality, status }) => quality === '720p' && status === 'encoded')) {
        throw new Error(`the film was not delivered as it is: ${JSON.stringify(encoding.qualities)}`);
      }
      break;
    }
    if (performance.now() > deadlineMs) throw new Error('the film cannot be played after two minutes');
    await sleep(pollMs);
  }
  const playable = performance.now() - sentAtMs;
  await fetchBeginning(client, videoId, seconds);
  const fetched = performance.now() - sentAtMs;
  const times = { answered: (await answered) - sentAtMs, playable, fetched };
  // Ends the encoding of the lower qualities, which is not measured here.
  await client.remove(videoId);
  return times;
}

/** What a player asks for before it shows the first frame. */
async function fetchBeginning(client: VideoClient, videoId: string, seconds: number): Promise<void> {
  const base = `http://server/vod/${videoId}/hls/manifest.m3u8`;
  const multivariant = await client.text(pathFrom(base, ''));
  const variant = multivariant.split('\n').find(line => line !== '' && !line.startsWith('#'));
  const sound = /TYPE=AUDIO.*URI="([^"]+)"/.exec(multivariant)?.[1];
  if (variant === undefined || sound === undefined)
    throw new Error(`no picture or no sound:\n${multivariant}`);
  await Promise.all(
    [variant, sound].map(async entry => {
      const path = pathFrom(base, entry);
      const playlist = await client.text(path);
      const init = /#EXT-X-MAP:URI="([^"]+)"/.exec(playlist)?.[1];
      const segments = playlist.split('\n').filter(line => line !== '' && !line.startsWith('#'));
      if (init === undefined || segments.length < firstSegments)
        throw new Error(`nothing to play:\n${playlist}`);
      const listed = [...playlist.matchAll(/#EXTINF:([\d.]+)/g)].reduce(
        (sum, [, each]) => sum + Number(each),
        0,
      );
      if (Math.abs(listed - seconds) > 1) throw new Error(`${path} has ${listed} s in place of ${seconds}`);
      for (const uri of [init, ...segments.slice(0, firstSegments)]) {
        await client.fetchAll(pathFrom(`http://server${path}`, uri));
      }
    }),
  );
}

function pathFrom(base: string, uri: string): string {
  const { pathname, search } = new URL(uri, base);
  return pathname + search;
}
