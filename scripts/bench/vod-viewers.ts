import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ServerProcess } from '../server-process.ts';
import { type Bench, HelperProcess, withServer } from './bench-context.ts';
import { openFiles, usageOf } from './process-usage.ts';
import { judge, percentile } from './report.ts';
import type { VodViewersOrder, VodViewersReport } from './vod-viewers-process.ts';

const name = '200 viewers of videos';
const viewers = 200;
const spreadMs = 4000;
const filmSeconds = 60;
const megabyte = 1_000_000;
const mebibyte = 1024 * 1024;
const key = 'production-key-of-this-bench-0123456789';

/**
 * Stalls of two hundred viewers of two hundred videos, and their cost. The server makes the images of the new
 * videos meanwhile, at a low priority: to wait for all of them takes ten minutes.
 */
export const benchVodViewers: Bench = context =>
  withServer(context, { MILLRACE_BOOTSTRAP_PRODUCTION_KEY: key }, async server => {
    const film = join(context.folder, 'film.mp4');
    await makeFilm(context.ffmpeg.path, film);
    const first = await upload(server, film);
    await waitUntilPlayable(server, first);
    const videoIds = [first];
    while (videoIds.length < viewers) videoIds.push(await createVideo(server, { source: first }));
    for (const videoId of videoIds) await waitUntilPlayable(server, videoId);

    const pid = server.child.pid!;
    const before = { pssBytes: usageOf([pid]).pssBytes, files: openFiles(pid) };
    const order: VodViewersOrder = {
      port: server.httpPort,
      paths: videoIds.map(manifestPath),
      spreadMs,
    };
    const crowd = new HelperProcess<VodViewersReport>('./vod-viewers-process.ts', order);
    await sleep(spreadMs + 4000);
    const early = usageOf([pid]);
    const fromMs = performance.now();
    await sleep(context.isShort ? 8000 : 40_000);
    const late = usageOf([pid]);
    const seconds = (performance.now() - fromMs) / 1000;
    crowd.child.send('stop');
    const { startsMs, segmentsMs, stallsMs, bytes, failures } = await crowd.report();
    await sleep(2000);
    const filesLeft = openFiles(pid) - before.files;

    if (failures.length > 0) console.error(failures.slice(0, 3).join('\n'));
    return [
      judge(name, { what: 'viewers that failed', value: failures.length, unit: '', max: 0 }),
      judge(name, {
        what: `stalls in ${segmentsMs.length} segments`,
        value: stallsMs.length,
        unit: '',
        max: 0,
      }),
      judge(name, { what: 'longest stall', value: Math.max(0, ...stallsMs), unit: 'ms' }),
      judge(name, {
        what: `asked for the playlist to first segments, p50 of ${startsMs.length}`,
        value: percentile(startsMs, 0.5),
        unit: 'ms',
      }),
      judge(name, {
        what: 'asked for the playlist to first segments, p99',
        value: percentile(startsMs, 0.99),
        unit: 'ms',
      }),
      judge(name, {
        what: 'asked for a segment to having it, p99',
        value: percentile(segmentsMs, 0.99),
        unit: 'ms',
      }),
      judge(name, { what: 'sent in all', value: bytes / megabyte, unit: 'MB' }),
      judge(name, {
        what: 'processor of the server',
        value: (100 * (late.cpuSeconds - early.cpuSeconds)) / seconds,
        unit: '% of a core',
      }),
      judge(name, {
        what: 'memory (PSS) of the server beyond idle',
        value: (late.pssBytes - before.pssBytes) / mebibyte,
        unit: 'MiB',
        max: 80,
      }),
      judge(name, {
        what: 'memory that it gained while they played',
        value: Math.max(0, late.pssBytes - early.pssBytes) / mebibyte,
        unit: 'MiB',
        max: 10,
      }),
      judge(name, {
        what: 'files still open afterwards, pipes to ffmpeg included',
        value: Math.max(0, filesLeft),
        unit: '',
        max: 10,
      }),
    ];
  });

/** 240 lines, so that no lower quality is encoded meanwhile, at the bit rate of a better picture, and with B-frames as films have them. */
async function makeFilm(ffmpeg: string, path: string): Promise<void> {
  await promisify(execFile)(ffmpeg, [
    ...['-hide_banner', '-loglevel', 'error', '-y'],
    ...['-f', 'lavfi', '-i', 'testsrc2=size=426x240:rate=30'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'],
    ...[
      '-t',
      String(filmSeconds),
      '-c:v',
      'libx264',
      '-preset',
      'veryfast',
      '-pix_fmt',
      'yuv420p',
      '-g',
      '60',
    ],
    ...['-b:v', '2500k', '-minrate', '2500k', '-maxrate', '2500k', '-bufsize', '2500k', '-nal-hrd', 'cbr'],
    ...['-c:a', 'aac', '-b:a', '128k', '-movflags', '+faststart', path],
  ]);
}

function manifestPath(videoId: string): string {
  return `/vod/${videoId}/hls/manifest.m3u8`;
}

async function upload(server: ServerProcess, path: string): Promise<string> {
  const videoId = await createVideo(server, {});
  const form = new FormData();
  form.append('file', new Blob([await readFile(path)]), 'film.mp4');
  await call(server, `/videos/${videoId}/source`, { body: form });
  return videoId;
}

async function createVideo(server: ServerProcess, values: { readonly source?: string }): Promise<string> {
  const answer = await call(server, '/videos', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Bench', mp4Support: false, ...values }),
  });
  return ((await answer.json()) as { videoId: string }).videoId;
}

async function call(
  server: ServerProcess,
  path: string,
  init: { readonly headers?: Record<string, string>; readonly body: FormData | string },
): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
  const answer = await fetch(server.baseUrl + path, {
    method: 'POST',
    body: init.body,
    headers: { authorization, ...init.headers },
  });
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

async function waitUntilPlayable(server: ServerProcess, videoId: string): Promise<void> {
  const deadlineMs = Date.now() + 120_000;
  for (;;) {
    const answer = await fetch(server.baseUrl + manifestPath(videoId));
    await answer.arrayBuffer();
    if (answer.status === 200) return;
    if (answer.status !== 202 || Date.now() > deadlineMs) {
      throw new Error(`${videoId} cannot be played: its playlist answers ${answer.status}`);
    }
    await sleep(100);
  }
}
