import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parseMediaPlaylist } from '../../src/hls/media-playlist.ts';
import { parseMultivariantPlaylist } from '../../src/hls/multivariant-playlist.ts';
import { basicAuthorization, type ServerProcess } from '../server-process.ts';
import { type Bench, type BenchContext, HelperProcess, makeStream, withServer } from './bench-context.ts';
import type { LongPublishOrder, MarkReached } from './long-publish-process.ts';
import type { HeldMemory } from './long-server-process.ts';
import { askWhileItGrows, type PlaylistAnswers, playlistKinds } from './playlist-answers.ts';
import { processTree, usageOf } from './process-usage.ts';
import { judge, percentile, type Row } from './report.ts';
import { fetchPlaylist, waitUntilPlayable } from './viewer.ts';

const name = 'long broadcast';
const mebibyte = 1024 * 1024;
const minuteMs = 60_000;
/** More, and a disk that stands still for a moment is behind by all that is in memory: fifteen seconds of media. */
const speed = 40;
/** In real time, until what came before is through. */
const settleMs = 4000;
const playableWithinMs = 60_000;
const decodedSegments = 5;
const framesPerSecond = 30;

/** A broadcast of six hours in minutes: what it takes of memory, its playlist, and its recording. */
export const benchLongBroadcast: Bench = context => {
  const endMs = context.isShort ? 75 * minuteMs : 360 * minuteMs;
  const askedMs = context.isShort ? 20_000 : 80_000;
  return withServer(
    context,
    { MILLRACE_RECORDING_MIN_FREE: '256MiB', MILLRACE_RTMP_MAX_MESSAGE_RATE: '20000' },
    async server => {
      const stream = await makeStream(server);
      const order: LongPublishOrder = {
        port: server.rtmpPort,
        streamKey: stream.streamKey,
        recordingPath: context.recordingPath,
        speed,
      };
      const publisher = new HelperProcess<MarkReached>('./long-publish-process.ts', order);
      const reach = async (mediaMs: number) => {
        publisher.child.send(mediaMs);
        await publisher.report(report => report.mediaMs >= mediaMs);
        await sleep(settleMs);
      };
      try {
        const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
        const path = new URL(mediaUrl).pathname;
        await reach(10 * minuteMs);
        const early = await measureMemory(server);
        await reach(70 * minuteMs);
        const first = await askWhileItGrows(server.httpPort, path, askedMs);
        const hour = await measureMemory(server);
        await reach(endMs);
        const last = await askWhileItGrows(server.httpPort, path, askedMs);
        const late = await measureMemory(server);
        const playlist = await fetchPlaylist(mediaUrl);
        const listedSeconds = playlist.segments.reduce((sum, one) => sum + one.durationSeconds, 0);
        const missing = playlist.segments.filter(({ gap }) => gap).length;
        const breaks = playlist.segments.filter(({ discontinuity }) => discontinuity).length;
        const recording = await finishRecording(context, server, stream.liveStreamId);
        const row = (what: string, value: number, unit: string, atMost?: number) =>
          judge(name, { what, value, unit, ...(atMost === undefined ? {} : { atMost }) });
        const hours = `${(endMs / minuteMs / 60).toFixed(1)} h`;
        const memoryRows = (at: string, { pss, heap, buffers, ffmpegs }: Memory) => [
          row(`after ${at}: memory (PSS) of the server, its garbage collected`, pss / mebibyte, 'MiB'),
          row(`after ${at}: of that, objects of JavaScript`, heap / mebibyte, 'MiB'),
          row(`after ${at}: of that, buffers`, buffers / mebibyte, 'MiB'),
          row(`after ${at}: memory of its ffmpeg, the program itself left out`, ffmpegs / mebibyte, 'MiB'),
        ];
        return [
          ...memoryRows('10 min', early),
          ...memoryRows('70 min', hour),
          ...memoryRows(hours, late),
          row(
            `${hours} over 10 min: more memory, ffmpeg included`,
            (late.pss + late.ffmpegs - early.pss - early.ffmpegs) / mebibyte,
            'MiB',
            30,
          ),
          row('length of the playlist in the end', listedSeconds, 's'),
          row('segments in it that are missing', missing, '', 0),
          row('breaks of time in it', breaks, '', 0),
          ...playlistKinds.flatMap(kind => playlistRows(kind, first[kind], last[kind])),
          row('recording: length', recording.seconds, 's'),
          row('recording: size', recording.bytes / 1e9, 'GB'),
          row('recording: end of the broadcast to its being a video', recording.videoMs, 'ms'),
          row(
            'recording: end of the broadcast to its last segment received',
            recording.playableMs,
            'ms',
            2000,
          ),
          row('recording: others wait meanwhile at most', recording.delayMs, 'ms'),
          row(
            `recording: pictures that were decoded of its last ${recording.endSeconds.toFixed(1)} s`,
            recording.lastPictures,
            `of ${Math.round(recording.endSeconds * framesPerSecond)}`,
          ),
        ];
      } finally {
        await publisher.stop();
      }
    },
    { main: './bench/long-server-process.ts' },
  );
};

function playlistRows(kind: string, first: PlaylistAnswers, last: PlaylistAnswers): Row[] {
  const firstMs = [...first.firstMs, ...last.firstMs];
  const againMs = [...first.againMs, ...last.againMs];
  const row = (what: string, value: number, unit: string, atMost?: number) =>
    judge(name, { what: `${kind}: ${what}`, value, unit, ...(atMost === undefined ? {} : { atMost }) });
  return [
    row('length', last.bytes / 1024, 'KiB'),
    row(`first answer after a part, p50 of ${firstMs.length}`, percentile(firstMs, 0.5), 'ms', 5),
    row('first answer after a part, p99', percentile(firstMs, 0.99), 'ms', 5),
    row('further answers, p99', percentile(againMs, 0.99), 'ms', 5),
  ];
}

interface Memory extends HeldMemory {
  readonly pss: number;
  /** Without the program, which is shared with whatever else runs it at that moment. */
  readonly ffmpegs: number;
}

async function measureMemory(server: ServerProcess): Promise<Memory> {
  const told = () => server.lines.filter(line => line.startsWith('memory '));
  const count = told().length;
  server.child.kill('SIGUSR2');
  while (told().length === count) await sleep(50);
  const held = JSON.parse(told().at(-1)!.slice('memory '.length)) as HeldMemory;
  const [own, ...children] = processTree(server.child.pid!);
  return { ...held, pss: usageOf([own!]).pssBytes, ffmpegs: usageOf(children).anonymousBytes };
}

interface FinishedRecording {
  readonly seconds: number;
  readonly bytes: number;
  readonly videoMs: number;
  readonly playableMs: number;
  /** Longest delay of the event loop meanwhile. */
  readonly delayMs: number;
  /** Of what was decoded of its end. */
  readonly endSeconds: number;
  readonly lastPictures: number;
}

/** Completes the broadcast, and fetches of the video what a viewer needs who goes to its end at once. */
async function finishRecording(
  context: BenchContext,
  server: ServerProcess,
  liveStreamId: string,
): Promise<FinishedRecording> {
  const call = async (method: string, path: string) => {
    const answer = await fetch(server.baseUrl + path, {
      method,
      headers: { authorization: basicAuthorization(server.productionKey) },
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const metric = async (name: string) => {
    const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find(line => line.startsWith(`millrace_${name} `))
        ?.split(' ')[1],
    );
  };
  const loopDelayMs = async () => 1000 * (await metric('event_loop_delay_seconds{quantile="1"}'));
  await loopDelayMs();
  const fromMs = performance.now();
  await call('PUT', `/live-streams/${liveStreamId}/complete`);
  let videoMs: number | undefined;
  for (;;) {
    const sinceMs = performance.now() - fromMs;
    if (sinceMs > playableWithinMs) {
      const lines = server.lines.slice(-20).join('\n');
      throw new Error(`the broadcast became no video that can be played:\n${lines}`);
    }
    const list = (await (await call('GET', `/videos?liveStreamId=${liveStreamId}`)).json()) as {
      data: { videoId: string; assets: { hls: string } }[];
    };
    const video = list.data[0];
    if (video !== undefined) {
      videoMs ??= performance.now() - fromMs;
      const url = video.assets.hls.replace(/^https?:\/\/[^/]+/, server.baseUrl);
      const manifest = await fetch(url);
      const text = await manifest.text();
      if (manifest.ok && text.includes('#EXT-X-STREAM-INF')) {
        const mediaUrl = new URL(parseMultivariantPlaylist(text).variants[0]!.uri, url).href;
        const playlist = parseMediaPlaylist(await (await fetch(mediaUrl)).text());
        const segment = await fetch(new URL(playlist.segments.at(-1)!.uri, mediaUrl));
        const { byteLength } = await segment.arrayBuffer();
        if (!segment.ok || byteLength === 0) throw new Error(`the last segment answered ${segment.status}`);
        const playableMs = performance.now() - fromMs;
        const delayMs = await loopDelayMs();
        const seconds = playlist.segments.reduce((sum, one) => sum + one.durationSeconds, 0);
        const ends = playlist.segments.slice(-decodedSegments);
        const urls = [ends[0]!.map!.uri, ...ends.map(({ uri }) => uri)].map(uri => new URL(uri, mediaUrl));
        const lastPictures = await decode(context.ffmpeg.path, join(context.folder, 'end.mp4'), urls);
        const endSeconds = ends.reduce((sum, one) => sum + one.durationSeconds, 0);
        const bytes = await metric('recorded_bytes_total');
        return { seconds, bytes, videoMs, playableMs, delayMs, endSeconds, lastPictures };
      }
      await manifest.body?.cancel();
    }
    await sleep(20);
  }
}

/** How many pictures ffmpeg decodes of some segments, with the init section that they need. */
async function decode(ffmpeg: string, path: string, urls: readonly URL[]): Promise<number> {
  const pieces: Buffer[] = [];
  for (const url of urls) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
    pieces.push(Buffer.from(await answer.arrayBuffer()));
  }
  await writeFile(path, Buffer.concat(pieces));
  const args = ['-v', 'error', '-i', path, '-f', 'null', '-progress', 'pipe:1', '-nostats', '-'];
  const { stdout } = await promisify(execFile)(ffmpeg, args);
  const told = stdout.split('\n').findLast(line => line.startsWith('frame='));
  return Number(told?.slice('frame='.length));
}
