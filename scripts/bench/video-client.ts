import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ServerProcess } from '../server-process.ts';

const key = 'production-key-of-this-bench-0123456789';

/** Settings with which {@link VideoClient} may upload films of any length. */
export const videoServerEnv = {
  MILLRACE_BOOTSTRAP_PRODUCTION_KEY: key,
} as const;

/** A quality in the status of a video. */
export interface BenchQuality {
  readonly type: string;
  readonly quality: string;
  readonly status: string;
}

/** `GET /videos/{videoId}/status`, as far as benches look into it. */
export interface BenchStatus {
  readonly encoding: {
    readonly playable: boolean;
    readonly failure?: string;
    readonly qualities: readonly BenchQuality[];
  };
}

/** What a program does that uploads videos, and watches what becomes of them. */
export class VideoClient {
  readonly #server: ServerProcess;
  readonly #authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  /** Makes a video; its id. */
  async create(values: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const answer = await this.#call('POST', '/videos', JSON.stringify({ title: 'Bench', ...values }));
    return ((await answer.json()) as { videoId: string }).videoId;
  }

  async status(videoId: string): Promise<BenchStatus> {
    const status = (await (await this.#call('GET', `/videos/${videoId}/status`)).json()) as BenchStatus;
    if (status.encoding.failure !== undefined) throw new Error(`${videoId}: ${status.encoding.failure}`);
    return status;
  }

  /** Deletes a video and ends what is done with it. */
  async remove(videoId: string): Promise<void> {
    await this.#call('DELETE', `/videos/${videoId}?permanently=true`);
  }

  /**
   * Sends a file in one request.
   *
   * @returns when its last byte was handed to the system, in milliseconds of {@link performance.now}, and the answer to come
   */
  async upload(videoId: string, path: string): Promise<{ sentAtMs: number; answered: Promise<number> }> {
    const head = '--bound\r\ncontent-disposition: form-data; name="file"; filename="film.mp4"\r\n\r\n';
    const tail = '\r\n--bound--\r\n';
    const { size } = await stat(path);
    const { promise: answered, resolve, reject } = Promise.withResolvers<number>();
    const sending = request(`${this.#server.baseUrl}/videos/${videoId}/source`, {
      method: 'POST',
      headers: {
        authorization: this.#authorization,
        'content-type': 'multipart/form-data; boundary=bound',
        'content-length': head.length + size + tail.length,
      },
    });
    answered.catch(() => {});
    sending.on('error', reject);
    sending.on('response', answer => {
      answer.resume();
      if (answer.statusCode === 201) resolve(performance.now());
      else reject(new Error(`the upload was answered with ${answer.statusCode}`));
    });
    sending.write(head);
    await pipeline(createReadStream(path, { highWaterMark: 1_048_576 }), sending, { end: false });
    await new Promise<void>(done => sending.end(tail, done));
    return { sentAtMs: performance.now(), answered };
  }

  /** Text of a path that viewers ask for. @throws Error when it is not there */
  async text(path: string): Promise<string> {
    return await (await this.#view(path)).text();
  }

  /** Fetches a path that viewers ask for; how many bytes it has. */
  async fetchAll(path: string): Promise<number> {
    return (await (await this.#view(path)).arrayBuffer()).byteLength;
  }

  async #view(path: string): Promise<Response> {
    const answer = await fetch(new URL(path, this.#server.baseUrl));
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    return answer;
  }

  async #call(method: string, path: string, body?: string): Promise<Response> {
    const answer = await fetch(this.#server.baseUrl + path, {
      method,
      headers: { authorization: this.#authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  }
}
