import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Sqlite from 'better-sqlite3';
import { type ServerProcess, startServerProcess } from '../../scripts/server-process.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { leaveOutImages } from '../support/leave-out-images.ts';
import { waitUntil } from '../support/wait-until.ts';

/** `GET /videos/{videoId}/status`, as far as tests look into it. */
export interface Status {
  readonly ingest?: { readonly status: string; readonly receivedBytes: { from: number; to: number }[] };
  readonly encoding: {
    readonly playable: boolean;
    readonly failure?: string;
    readonly qualities: { type: string; quality: string; status: string; progress: number }[];
    readonly additionalQualities?: { codec: string; quality: string; status: string }[];
  };
  readonly transcript?: { readonly status: string };
}

/** A video as the API shows it, as far as tests look into it. */
export interface CreatedVideo {
  readonly videoId: string;
  readonly assets: { hls: string; player: string; thumbnail: string; mp4?: string };
}

const productionKey = 'production-key-of-this-run-0123456789';

/** A server process on a data folder, spoken to as a client does. */
export class VideoServer {
  readonly process: ServerProcess;
  readonly dataDir: string;
  /** Key that {@link call} sends. */
  readonly key = productionKey;

  constructor(process: ServerProcess, dataDir: string) {
    this.process = process;
    this.dataDir = dataDir;
  }

  /** Starts a server whose production key works, so that nothing is cut to the length of a sandbox. */
  static async start(dataDir: string, env: Record<string, string> = {}): Promise<VideoServer> {
    const process = await startServerProcess({
      dataDir,
      env: {
        MILLRACE_BOOTSTRAP_PRODUCTION_KEY: productionKey,
        MILLRACE_LOG_LEVEL: 'debug',
        ...env,
      },
    });
    return new VideoServer(process, dataDir);
  }

  /** Makes no thumbnails and storyboards, or makes them again. */
  leaveOutImages(isLeftOut = true): void {
    leaveOutImages(this.dataDir, isLeftOut);
  }

  get pid(): number {
    return this.process.child.pid!;
  }

  /** An API request with the production key; an object is sent as JSON. */
  call(
    method: string,
    path: string,
    options: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const { body, headers } = options;
    const isForm = body instanceof FormData;
    return fetch(this.process.baseUrl + path, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`${productionKey}:`).toString('base64')}`,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : isForm ? body : JSON.stringify(body),
    });
  }

  /** Makes a video. @throws Error when it is refused */
  async create(values: Record<string, unknown> = {}): Promise<CreatedVideo> {
    const answer = await this.call('POST', '/videos', { body: { title: 'A film', ...values } });
    if (!answer.ok) throw new Error(`POST /videos answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as CreatedVideo;
  }

  /** Sends a file, or with `range` a piece of it; the status of the answer. */
  async send(videoId: string, bytes: Buffer, range?: string): Promise<number> {
    const answer = await this.call('POST', `/videos/${videoId}/source`, {
      body: formOf(bytes),
      headers: range === undefined ? undefined : { 'content-range': range },
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  async status(videoId: string): Promise<Status> {
    return (await (await this.call('GET', `/videos/${videoId}/status`)).json()) as Status;
  }

  /** Waits until the status is as wanted. */
  async until(videoId: string, isWanted: (status: Status) => boolean, what: string): Promise<Status> {
    let last: Status | undefined;
    return await waitUntil(
      async () => {
        last = await this.status(videoId);
        return isWanted(last) ? last : undefined;
      },
      {
        timeoutMs: encodeTimeoutMs,
        what: () => `${what}; ${JSON.stringify(last)}\n${this.process.lines.slice(-15).join('\n')}`,
      },
    );
  }

  /** Waits until every quality is there and nothing is left to do for the video. */
  async untilDone(videoId: string): Promise<Status> {
    const status = await this.until(
      videoId,
      ({ encoding: { qualities } }) =>
        qualities.length > 0 && qualities.every(quality => quality.status === 'encoded'),
      'all qualities',
    );
    await waitUntil(() => this.read('SELECT id FROM jobs').length === 0, {
      timeoutMs: encodeTimeoutMs,
      what: () => `the end of all jobs: ${JSON.stringify(this.read('SELECT * FROM jobs'))}`,
    });
    return status;
  }

  /** Rows of the server's database. */
  read<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[] {
    return readRows<Row>(this.dataDir, sql, ...values);
  }

  /** Text of a path on the server, or its status where that is not 200. */
  async text(path: string, headers: Record<string, string> = {}): Promise<string | number> {
    const answer = await fetch(new URL(path, this.process.baseUrl), { headers });
    const text = await answer.text();
    return answer.status === 200 ? text : answer.status;
  }

  /** SIGKILL, at once. */
  async kill(): Promise<void> {
    this.process.child.kill('SIGKILL');
    await this.process.exited;
  }

  async stop(): Promise<void> {
    await this.process.stop();
  }
}

/** Rows of the database in a data folder, read beside the server. */
export function readRows<Row>(dataDir: string, sql: string, ...values: unknown[]): Row[] {
  const database = new Sqlite(join(dataDir, 'millrace.db'), { readonly: true, timeout: 5000 });
  try {
    return database.prepare(sql).all(...values) as Row[];
  } finally {
    database.close();
  }
}

/** A form with one file. */
export function formOf(bytes: Buffer): FormData {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)]), 'film.mp4');
  return form;
}

/** The test picture to record. */
export interface FilmOptions {
  readonly seconds: number;
  readonly size?: string;
  /** Default 30. */
  readonly fps?: number;
  /** `mpeg4` must be encoded by the server; `libx264` is carried. */
  readonly codec?: 'mpeg4' | 'libx264';
  /** Default: true. The server's coder of sound is slow. */
  readonly hasSound?: boolean;
  /** Fills the file up to so many bytes with a box that players skip. */
  readonly bytes?: number;
}

/** Films a test picture, with a tone unless told otherwise. */
export async function makeFilm(path: string, options: FilmOptions): Promise<void> {
  const { seconds, size = '640x360', fps = 30, codec = 'mpeg4', hasSound = true, bytes = 0 } = options;
  await runToEnd(ffmpegPath, [
    ...['-y', '-loglevel', 'error'],
    ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${fps}:duration=${seconds}`],
    ...(hasSound ? ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${seconds}`] : []),
    ...['-c:v', codec, ...(codec === 'libx264' ? ['-preset', 'ultrafast', '-g', '60'] : ['-b:v', '1M'])],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', '-aac_coder', 'fast', '-movflags', '+faststart', path],
  ]);
  const handle = await open(path, 'a');
  try {
    const { size: made } = await handle.stat();
    if (made + 8 > bytes) return;
    const box = Buffer.concat([Buffer.alloc(8), randomBytes(bytes - made - 8)]);
    box.writeUInt32BE(box.length, 0);
    box.write('free', 4, 'latin1');
    await handle.appendFile(box);
  } finally {
    await handle.close();
  }
}

/** SHA-256 of a file. */
export async function digestOfFile(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}

/** Programs that become ffmpeg, and sandboxes. */
const launchers = /\((?:launch\.sh|env|setpriv|sh|nice|bwrap)\)/;

/** Processes other than the server and launchers that were started on files of a data folder and still run. */
export function workersOn(dataDir: string): { pid: number; nice: number; words: string[] }[] {
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .flatMap(entry => {
      try {
        const words = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
        if (!words.some(word => word.includes(dataDir))) return [];
        // `pid (name) state ppid ...`: niceness is the 19th field (proc(5)), 16 after the state.
        const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        if (fields[0] === 'Z' || fields[0] === 'X' || launchers.test(stat)) return [];
        return [{ pid: Number(entry), nice: Number(fields[16]), words }];
      } catch {
        return [];
      }
    });
}

/** Files below a folder, as relative paths; none where it is not there. */
export async function filesIn(...path: string[]): Promise<string[]> {
  return await readdir(join(...path), { recursive: true }).catch(() => []);
}
