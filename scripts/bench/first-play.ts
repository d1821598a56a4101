import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { callApi } from '../api-call.ts';
import { basicAuthorization, createVideo, type ServerProcess } from '../server-process.ts';
import { type Bench, HelperProcess, withServer } from './bench-context.ts';
import { judge, percentile } from './report.ts';

const name = 'first play';
const boundary = 'a-line-that-no-film-holds-7Hq2Lm9Rz';
const pollEveryMs = 5;

interface Upload {
  readonly sentMs: number;
  readonly playableMs: number;
}

/** The time from the last byte of a film of 10 s until it can be played, and the speed of its upload beside that of a bare server. */
export const benchFirstPlay: Bench = async context => {
  const path = join(context.folder, 'ten-seconds.mp4');
  await promisify(execFile)(context.ffmpeg.path, [
    ...['-hide_banner', '-loglevel', 'error', '-y', '-i', context.recordingPath, '-t', '10'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '2700k', '-c:a', 'aac', '-b:a', '128k', path],
  ]);
  const body = multipartOf(await readFile(path));
  const rounds = context.isShort ? 9 : 25;
  const sink = new HelperProcess<{ port: number }>('./sink-process.ts', join(context.folder, 'sink'));
  try {
    const { port } = await sink.report();
    return await withServer(context, {}, async server => {
      const bare: number[] = [];
      const uploads: Upload[] = [];
      // Other work on the machine meets both, one after the other.
      for (let round = 0; round <= rounds; round += 1) {
        const sinkUrl = `http://127.0.0.1:${port}/`;
        const { startedMs, answeredMs } = await send(sinkUrl, body, {});
        bare.push(answeredMs - startedMs);
        uploads.push(await upload(server, body));
      }
      const [first, ...later] = uploads;
      const value = (of: (one: Upload) => number) => percentile(later.map(of), 0.5);
      const sentMs = value(one => one.sentMs);
      const bareMs = percentile(bare.slice(1), 0.5);
      const seconds = { unit: 's', max: 0.25 };
      const megabytes = body.length / 1e6;
      return [
        judge(name, {
          what: 'last byte to playable, of the first upload',
          value: first!.playableMs / 1000,
          unit: 's',
        }),
        judge(name, {
          what: `last byte to playable, p50 of ${rounds}`,
          value: value(one => one.playableMs) / 1000,
          ...seconds,
        }),
        judge(name, { what: 'upload and answer, p50', value: sentMs, unit: 'ms' }),
        judge(name, { what: 'speed of uploads', value: (megabytes * 1000) / sentMs, unit: 'MB/s' }),
        judge(name, {
          what: 'the same to a server of node:http that writes it to a file, p50',
          value: bareMs,
          unit: 'ms',
        }),
        judge(name, {
          what: 'speed of uploads by that of node:http',
          value: bareMs / sentMs,
          unit: '×',
          min: 0.7,
          better: 'higher',
        }),
      ];
    });
  } finally {
    await sink.stop();
  }
};

/** Deletes the video once it can be played, before the server has encoded more of it. */
async function upload(server: ServerProcess, body: Buffer): Promise<Upload> {
  const { videoId } = await createVideo(server.baseUrl, server.productionKey, { title: 'Bench' });
  const path = `/videos/${videoId}`;
  const { startedMs, lastByteMs, answeredMs } = await send(`${server.baseUrl}${path}/source`, body, {
    authorization: basicAuthorization(server.productionKey),
    'content-type': `multipart/form-data; boundary=${boundary}`,
  });
  for (;;) {
    const { encoding } = await callApi<{ encoding: { playable: boolean } }>(server, 'GET', `${path}/status`);
    if (encoding.playable) break;
    await sleep(pollEveryMs);
  }
  const playableMs = performance.now() - lastByteMs;
  await callApi(server, 'DELETE', path);
  await sleep(300);
  return { sentMs: answeredMs - startedMs, playableMs };
}

function send(url: string, body: Buffer, headers: Readonly<Record<string, string>>) {
  return new Promise<{ startedMs: number; lastByteMs: number; answeredMs: number }>((resolve, reject) => {
    const startedMs = performance.now();
    let lastByteMs = startedMs;
    const request = http.request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
    });
    request.once('error', reject).once('response', answer => {
      answer.resume().once('end', () => {
        if (answer.statusCode === 201) resolve({ startedMs, lastByteMs, answeredMs: performance.now() });
        else reject(new Error(`${url} answered ${answer.statusCode}`));
      });
    });
    request.end(body, () => {
      lastByteMs = performance.now();
    });
  });
}

function multipartOf(file: Buffer): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="film.mp4"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}
