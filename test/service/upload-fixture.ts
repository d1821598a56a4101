import { createHash, hash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ApiReply, TestApi } from '../support/start-api.ts';

/** The least that a chunk before the last can have. */
export const chunkBytes = 5_242_880;

/** Bytes that are different every time. */
export const noise = (bytes: number): Buffer => randomBytes(bytes);

/** SHA-256 as text. */
export const digestOf = (bytes: Buffer): string => hash('sha256', bytes);

/** SHA-256 of a file as text. */
export async function digestOfFile(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}

/** A form of one file, with fields before and after it. */
export function fileForm(
  bytes: Buffer,
  options: {
    name?: string;
    field?: string;
    before?: Record<string, string>;
    after?: Record<string, string>;
  } = {},
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(options.before ?? {})) form.append(name, value);
  form.append(options.field ?? 'file', new Blob([new Uint8Array(bytes)]), options.name ?? 'video.mp4');
  for (const [name, value] of Object.entries(options.after ?? {})) form.append(name, value);
  return form;
}

/** An API with what tests of uploads do again and again. */
export class UploadsOfTest {
  readonly #api: () => TestApi;

  constructor(api: () => TestApi) {
    this.#api = api;
  }

  /** Makes a video; its id. */
  async video(body: Record<string, unknown> = {}): Promise<string> {
    return (await this.#api().call('POST', '/videos', { body: { title: 'A video', ...body } })).json.videoId;
  }

  /** Sends a file, or with a range a chunk. */
  send(videoId: string, bytes: Buffer, range?: string): Promise<ApiReply> {
    return this.#api().call('POST', `/videos/${videoId}/source`, {
      body: fileForm(bytes),
      headers: range === undefined ? undefined : { 'content-range': range },
    });
  }

  ingest(videoId: string) {
    return this.#api().api.uploads.service.ingestOf(videoId);
  }

  sourcePath(videoId: string): string {
    return join(this.#api().dataDir, 'vod', videoId, 'source');
  }

  chunkPath(videoId: string, name: string): string {
    return join(this.#api().dataDir, 'uploads', videoId, name);
  }

  /** Names of files that are being received, and of chunks. */
  async leftovers(): Promise<string[]> {
    const names = await Promise.all(
      ['incoming', 'uploads'].map(folder =>
        readdir(join(this.#api().dataDir, folder), { recursive: true }).catch(() => [] as string[]),
      ),
    );
    return names.flat();
  }
}
