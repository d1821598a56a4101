import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumArguments, findChromium } from '../support/chromium.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { nativePlayers, type RunningPlayer } from '../support/native-players.ts';
import { RecordingProxy } from '../support/recording-proxy.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { WatchedPage } from './browser-fixture.ts';

const require = createRequire(import.meta.url);
const found = findChromium();

/** The state of a player. */
interface Story {
  /** True when it started on a broadcast that had just begun. */
  began: boolean;
  /** True when it shows the media of the publisher that returned. */
  wentOn: boolean;
  /** True when it noticed the end without help. */
  ended: boolean;
  /** True when it was still running when the publisher returned. */
  survived: boolean;
}

interface Player {
  readonly name: string;
  readonly missing: string | undefined;
  readonly story: Story;
  start(): Promise<void>;
  /** Frames that it has played, or segments that it fetched. */
  played(): Promise<number>;
  /** Undefined while it plays. */
  end(): Promise<'ended' | 'failed' | undefined>;
  describe(): Promise<string>;
  stop(): Promise<void>;
}

let server: TestServer;
let spy: RecordingProxy;
let browser: Browser | undefined;
let hlsPath = '';
/** More frames than a slate has. */
const movingFrames = 45;
/** Segments, or frames. */
const fewPlayed = 4;

const newStory = (): Story => ({ began: false, wentOn: false, ended: false, survived: false });

/** A player in a page: `script` runs with `video`, `url`, and `failed`, which is to be called with what is fatal. */
function inBrowser(name: string, library: string | undefined, script: string): Player {
  let page: WatchedPage | undefined;
  const read = <Value>(expression: string) => page!.page.evaluate<Value>(expression);
  return {
    name,
    missing: found.path === undefined ? found.reason : undefined,
    story: newStory(),
    async start() {
      page = await WatchedPage.openBare(browser!, spy.baseUrl);
      if (library !== undefined) await read(readFileSync(require.resolve(library), 'utf8'));
      await read(`(() => {
        const video = document.querySelector('video');
        const url = '${spy.urlOf(name, hlsPath)}';
        window.faults = [];
        const failed = what => faults.push(String(what));
        video.addEventListener('ended', () => { window.hasEnded = true; });
        ${script}
      })()`);
    },
    played: () => read('document.querySelector("video").getVideoPlaybackQuality().totalVideoFrames'),
    async end() {
      if (await read<boolean>('window.hasEnded === true')) return 'ended';
      return (await read<number>('faults.length')) > 0 ? 'failed' : undefined;
    },
    describe: () =>
      read(`JSON.stringify([faults, document.querySelector('video').currentTime, window.hasEnded])`),
    stop: async () => page?.close(),
  };
}

const playHls = (config: string) => `
  const hls = new Hls(${config});
  hls.on('hlsError', (_, data) => { if (data.fatal) failed(data.details); });
  hls.attachMedia(video);
  hls.loadSource(url);
  video.play();
`;

/** Numbers of the segments that a client fetched whole. */
const segmentsOf = (name: string) =>
  spy
    .requestsOf(name)
    .filter(({ status }) => status === 200 || status === 206)
    .flatMap(({ path }) => /\/(?:segment|still)-(\d+)\.m4s/.exec(path)?.[1] ?? [])
    .map(Number);

function asProcess({ name, missing, start }: (typeof nativePlayers)[number]): Player {
  let running: RunningPlayer | undefined;
  return {
    name,
    missing,
    story: newStory(),
    start: async () => {
      running = start(spy.urlOf(name, hlsPath));
    },
    played: async () => new Set(segmentsOf(name)).size,
    async end() {
      if (running?.exit === undefined) return undefined;
      return running.exit === 0 ? 'ended' : 'failed';
    },
    describe: async () => JSON.stringify([running?.exit, running?.output, segmentsOf(name)]),
    stop: async () => running?.kill(),
  };
}

const players: readonly Player[] = [
  inBrowser('hls-js', undefined, playHls('{}')),
  inBrowser('hls-js-without-low-latency', undefined, playHls('{ lowLatencyMode: false }')),
  inBrowser(
    'video-js',
    'video.js/dist/video.min.js',
    `
      const player = videojs(video, { muted: true, autoplay: true, html5: { vhs: { overrideNative: true } } });
      player.on('error', () => failed(player.error().message));
      player.src({ src: url, type: 'application/x-mpegURL' });
    `,
  ),
  inBrowser(
    'shaka',
    'shaka-player/dist/shaka-player.compiled.js',
    `
      shaka.polyfill.installAll();
      const player = new shaka.Player();
      player.attach(video).then(() => player.load(url)).then(() => video.play()).catch(failed);
    `,
  ),
  ...nativePlayers.map(asProcess),
];
const present = players.filter(({ missing }) => missing === undefined);

/** Waits until a condition holds for all players, or for as long as it takes those that do well on a slow machine. */
async function forAll(holds: (player: Player) => Promise<boolean>): Promise<void> {
  const done = new Set<Player>();
  await waitUntil(
    async () => {
      for (const player of present) if (!done.has(player) && (await holds(player))) done.add(player);
      return done.size === present.length;
    },
    { everyMs: 100 },
  ).catch(() => {});
}

/** A publisher that begins, is away for eight stills, comes back, and goes for good: all players watch the same. */
async function playAll(): Promise<void> {
  const stream = await server.createStream();
  hlsPath = `/${stream.liveStreamId}.m3u8`;
  const publish = () =>
    publishTestPicture({ url: server.rtmpUrl(stream.streamKey), size: '160x120', gopSeconds: 1 });
  const listed = async () => {
    const master = await fetch(server.baseUrl + hlsPath);
    const uri = (await master.text()).split('\n').find(line => line.includes('/source/'));
    return uri === undefined ? '' : (await fetch(new URL(uri, master.url))).text();
  };
  {
    await using _ = publish();
    await waitUntil(async () => (await listed()) !== '', { what: 'a playlist' });
    await Promise.all(present.map(player => player.start()));
    await forAll(async ({ story, played }) => {
      story.began = (await played()) >= fewPlayed;
      return story.began;
    });
  }
  const stillsIn = (text: string) => text.match(/^still-\d+/gm) ?? [];
  await waitUntil(async () => stillsIn(await listed()).length >= 8, { what: 'stills' });
  const lastStill = Number(
    stillsIn(await listed())
      .at(-1)!
      .slice('still-'.length),
  );
  {
    await using _ = publish();
    const before = new Map<Player, number>();
    const newest = (text: string) => text.match(/^(?:segment|still)-\d+/gm)?.at(-1) ?? '';
    await waitUntil(async () => newest(await listed()).startsWith('segment-'), {
      what: 'a segment of the publisher that came back',
    });
    for (const player of present) {
      before.set(player, await player.played());
      player.story.survived = (await player.end()) === undefined;
    }
    await forAll(async player => {
      const isNative = nativePlayers.some(({ name }) => name === player.name);
      player.story.wentOn = isNative
        ? segmentsOf(player.name).some(number => number > lastStill + 1)
        : (await player.played()) > before.get(player)! + movingFrames;
      return player.story.wentOn;
    });
  }
  await forAll(async player => {
    const end = await player.end();
    player.story.ended = end === 'ended';
    return end !== undefined;
  });
}

describe('players of others, through an absence of the publisher', () => {
  beforeAll(async () => {
    if (present.length === 0) return;
    server = await startServer({ 'live.segmentTarget': '1s', 'live.reconnectGrace': '8s' });
    spy = await RecordingProxy.start(server.baseUrl);
    if (found.path !== undefined) {
      const args = [...chromiumArguments, '--autoplay-policy=no-user-gesture-required'];
      browser = await chromium.launch({ executablePath: found.path, args });
    }
    await playAll();
  }, 400_000);
  afterAll(async () => {
    for (const player of present) await player.stop();
    await browser?.close();
    spy?.stop();
    await server?.stop();
  });

  for (const { name, missing, story, describe: tell } of players) {
    it.skipIf(missing !== undefined)(
      `${name} begins at once, goes on, and notices the end${missing === undefined ? '' : ` (skipped: ${missing})`}`,
      async () => {
        expect(story, await tell()).toEqual({ began: true, survived: true, wentOn: true, ended: true });
      },
    );
  }
});
