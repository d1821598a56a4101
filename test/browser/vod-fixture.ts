import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pageHeaders } from '../../src/delivery/pages/page-sender.ts';
import { loadPlayerFiles, type PlayerFiles } from '../../src/delivery/pages/player-files.ts';
import type { PlayerTheme } from '../../src/delivery/pages/player-theme.ts';
import { describeVideo, renderVodPage, type VodPageState } from '../../src/delivery/pages/vod-page.ts';
import { scriptType } from '../../src/delivery/responses/response-sender.ts';
import type { VodEntry } from '../../src/delivery/vod/vod-source.ts';
import { testBundles } from '../support/browser-bundles.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';

/** Length of the video, in seconds, and of its segments. */
export const videoSeconds = 12;
const segmentSeconds = 2;

/** Chapters and captions of the video, with their start. */
export const chapters = [
  { at: 0, name: 'Opening' },
  { at: 4, name: 'In the <i>middle</i> of it' },
  { at: 9, name: 'The end' },
];

const chaptersVtt = `WEBVTT

1
00:00.000 --> 00:04.000
Opening

NOTE nobody reads this

00:04.000 --> 00:09.000 line:0
In the &lt;i&gt;middle&lt;/i&gt; of it

00:09.000 --> 00:12.000
The end
`;

const captionsVtt = (language: string) => `WEBVTT

00:00.000 --> 00:06.000
First words (${language})

00:06.000 --> 00:12.000
Last words (${language})
`;

/** Four tiles in a row, three seconds each: red, green, blue, yellow. */
export const tile = { width: 160, height: 90, seconds: 3 };

const storyboardVtt = `WEBVTT

${[0, 1, 2, 3]
  .map(
    index => `00:00:${two(index * 3)}.000 --> 00:00:${two(index * 3 + 3)}.000
storyboard.jpg#xywh=${index * tile.width},0,${tile.width},${tile.height}`,
  )
  .join('\n\n')}
`;

const renditions = {
  '240p': { bandwidth: 400_000, size: '320x180' },
  '360p': { bandwidth: 900_000, size: '640x360' },
} as const;

/** A quality of the video. */
export type Rung = keyof typeof renditions;

/** Makes a video in two qualities with a shared sound track, as HLS, and pictures of it, in a folder. */
export async function makeVideo(folder: string): Promise<void> {
  for (const name of [...Object.keys(renditions), 'audio'])
    await mkdir(join(folder, name), { recursive: true });
  const output = (name: string, kind: string) => [
    ...[
      '-f',
      'hls',
      '-hls_time',
      String(segmentSeconds),
      '-hls_playlist_type',
      'vod',
      '-output_ts_offset',
      '10',
    ],
    ...['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', 'init-0.mp4'],
    ...['-hls_segment_filename', join(folder, name, `${kind}-0-%d.m4s`), join(folder, name, 'manifest.m3u8')],
  ];
  await runToEnd(ffmpegPath, [
    ...[
      '-loglevel',
      'error',
      '-nostdin',
      '-f',
      'lavfi',
      '-i',
      `testsrc2=size=640x360:rate=25:duration=${videoSeconds}`,
    ],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${videoSeconds}`],
    ...Object.entries(renditions).flatMap(([name, { size }]) => [
      ...['-map', '0:v', '-s', size, '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
      ...['-g', '50', '-keyint_min', '50', '-sc_threshold', '0', ...output(name, 'video')],
    ]),
    ...['-map', '1:a', '-c:a', 'aac', '-b:a', '64k', ...output('audio', 'audio')],
  ]);
  const color = (name: string) => [
    '-f',
    'lavfi',
    '-i',
    `color=${name}:size=${tile.width}x${tile.height}:duration=1`,
  ];
  await runToEnd(ffmpegPath, [
    ...['-loglevel', 'error', '-nostdin', ...['red', 'green', 'blue', 'yellow'].flatMap(color)],
    ...['-filter_complex', 'hstack=inputs=4', '-frames:v', '1', join(folder, 'storyboard.jpg')],
  ]);
  await runToEnd(ffmpegPath, [
    ...['-loglevel', 'error', '-nostdin', '-f', 'lavfi', '-i', 'smptehdbars=size=640x360:duration=1'],
    ...['-frames:v', '1', join(folder, 'thumbnail.jpg')],
  ]);
  await writeFile(join(folder, 'storyboard.vtt'), storyboardVtt);
}

const plainTheme: PlayerTheme = {
  colors: {},
  enableApi: true,
  enableControls: true,
  forceAutoplay: false,
  forceLoop: false,
  hideTitle: false,
};

/** Attributes of the video that a test may change while a page shows it. */
export interface VideoOfTest {
  title: string;
  playable: boolean;
  failed: boolean;
  /** The video is not there at all. */
  isMissing: boolean;
  rungs: Rung[];
  /** True when there is only an audio track. */
  isAudioOnly: boolean;
  /** Segments of each rendition that are there; the lists go on growing while it is less than all. */
  segments: number;
  /** Every request but for the page itself is cut off. */
  isUnreachable: boolean;
  /** Requests for media from this segment on are cut off. */
  lostFromSegment: number;
  captions: { language: string; label: string; default: boolean }[];
  hasChapters: boolean;
  mp4: boolean;
  hasThumbnail: boolean;
  theme: Partial<PlayerTheme> | null;
  revision: number;
}

/** A server of its own with one video, and what the real one has no levers for. `await using` closes it. */
export class VideoSite {
  readonly video: VideoOfTest;
  /** Paths and queries of all requests so far. */
  readonly requests: string[] = [];
  readonly #folder: string;
  readonly #server: http.Server;
  readonly #files: PlayerFiles;

  private constructor(folder: string, video: Partial<VideoOfTest>, files: PlayerFiles) {
    this.#folder = folder;
    this.#files = files;
    this.video = {
      title: 'Mill & weir',
      playable: true,
      failed: false,
      isMissing: false,
      rungs: ['240p', '360p'],
      isAudioOnly: false,
      segments: videoSeconds / segmentSeconds,
      isUnreachable: false,
      lostFromSegment: Number.POSITIVE_INFINITY,
      hasChapters: true,
      mp4: true,
      hasThumbnail: true,
      captions: [
        { language: 'en', label: 'English', default: false },
        { language: 'fr-CA', label: 'Français (Canada)', default: false },
      ],
      theme: null,
      revision: 1,
      ...video,
    };
    this.#server = http.createServer((request, response) => void this.#answer(request, response));
  }

  /** Serves what `createVideo` made in `folder`. */
  static async start(folder: string, video: Partial<VideoOfTest> = {}): Promise<VideoSite> {
    const site = new VideoSite(folder, video, await loadPlayerFiles(testBundles));
    await once(site.#server.listen(0, '127.0.0.1'), 'listening');
    return site;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Address of the player page with this behind it. */
  page(address = ''): string {
    return `${this.origin}/vod/viOfTest${address}`;
  }

  /** Changes the video as an encoder would: viewers get something new. */
  change(change: Partial<VideoOfTest>): void {
    Object.assign(this.video, change, { revision: this.video.revision + 1 });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #state(): VodPageState {
    const { title, playable, failed, captions, hasChapters, mp4, theme, revision } = this.video;
    const track = ({ language, label, default: isDefault }: VideoOfTest['captions'][number]) => ({
      language,
      label,
      isDefault,
    });
    const entry: VodEntry = {
      videoId: 'viOfTest',
      projectId: 'prOfTest',
      title,
      public: true,
      listed: false,
      isSandbox: false,
      policy: undefined,
      limits: undefined,
      clippedFrom: undefined,
      mp4Support: mp4,
      panoramic: false,
      revision,
      isPlayable: playable,
      hasFailed: failed,
      hasStoryboard: true,
      durationSeconds: videoSeconds,
      ...(this.video.isAudioOnly ? { width: undefined, height: undefined } : { width: 640, height: 360 }),
      captions: async () => [],
      chapters: async () => [],
      theme: async () => undefined,
    };
    return describeVideo(entry, {
      hasMp4: mp4,
      hasThumbnail: this.video.hasThumbnail,
      captions: captions.map(track),
      chapters: hasChapters ? [{ language: 'en', label: 'English', isDefault: false }] : [],
      theme: theme === null ? undefined : { ...plainTheme, ...theme },
    });
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const path = new URL(request.url!, 'http://x').pathname;
    if (path === '/watch') return void response.writeHead(202, { 'Access-Control-Allow-Origin': '*' }).end();
    this.requests.push(request.url!);
    if (this.video.isUnreachable && path !== '/vod/viOfTest') {
      response.destroy();
      return;
    }
    const [, segment = '-1'] = /-(\d+)\.m4s$/.exec(path) ?? [];
    if (Number(segment) >= this.video.lostFromSegment) {
      response.destroy();
      return;
    }
    const send = (type: string, body: string | Buffer, headers: readonly string[] = []) => {
      const all = ['Content-Type', type, 'Cache-Control', 'no-store', 'Access-Control-Allow-Origin', '*'];
      response.writeHead(200, [...all, ...headers]).end(body);
    };
    if (path === '/player.js') return send(scriptType, this.#files.element.plain);
    const asset = this.#files.byName.get(path.replace('/assets/', ''));
    if (asset !== undefined) return send(asset.contentType, asset.text.plain);
    const [, rest] = /^\/vod\/viOfTest(.*)$/.exec(path) ?? [];
    if (rest === '') return send('text/html; charset=utf-8', this.#page(), pageHeaders);
    if (rest === undefined || this.video.isMissing) return void response.writeHead(404).end();
    if (rest === '/state') return send('application/json', JSON.stringify(this.#state()));
    if (rest === '/chapters/en.vtt') return send('text/vtt', chaptersVtt);
    const captions = /^\/captions\/([\w-]+)\.vtt$/.exec(rest);
    if (captions !== null) return send('text/vtt', captionsVtt(captions[1]!));
    if (rest.startsWith('/hls/') && !this.video.playable) return void response.writeHead(202).end();
    if (rest === '/hls/manifest.m3u8') return send('application/vnd.apple.mpegurl', this.#multivariant());
    const body = await readFile(join(this.#folder, rest.replace('/hls/', '/'))).catch(() => undefined);
    if (body === undefined) return void response.writeHead(404).end();
    if (rest.endsWith('.m3u8')) return send('application/vnd.apple.mpegurl', this.#grown(body.toString()));
    return send(
      rest.endsWith('.jpg') ? 'image/jpeg' : rest.endsWith('.vtt') ? 'text/vtt' : 'video/mp4',
      body,
    );
  }

  #page(): string {
    return renderVodPage(this.#files.vodPage, this.#state(), { meta: '' });
  }

  #multivariant(): string {
    if (this.video.isAudioOnly) {
      return '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"\naudio/manifest.m3u8\n';
    }
    const lines = this.video.rungs.flatMap(name => {
      const { bandwidth, size } = renditions[name];
      return [
        `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=${size},FRAME-RATE=25,AUDIO="audio"`,
        `${name}/manifest.m3u8`,
      ];
    });
    return [
      ...['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'],
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Sound",DEFAULT=YES,AUTOSELECT=YES,URI="audio/manifest.m3u8"',
      ...lines,
      '',
    ].join('\n');
  }

  /** Returns the part of a list that is there by now. */
  #grown(list: string): string {
    const { segments } = this.video;
    if (segments >= videoSeconds / segmentSeconds) return list;
    let left = segments;
    const lines: string[] = [];
    for (const line of list.replace('PLAYLIST-TYPE:VOD', 'PLAYLIST-TYPE:EVENT').split('\n')) {
      if (left === 0 || line === '#EXT-X-ENDLIST') break;
      lines.push(line);
      if (line.endsWith('.m4s')) left -= 1;
    }
    return `${lines.join('\n')}\n`;
  }
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
