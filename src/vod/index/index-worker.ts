import { open } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import { AppError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import { describePlainSource } from '../source/plain-source.ts';
import {
  type IndexProgressiveOptions,
  type IndexProgressiveResult,
  indexProgressive,
  readerOf,
} from './index-progressive.ts';

export interface IndexRequest {
  readonly path: string;
  /** Undefined: describe the file. */
  readonly options?: Omit<IndexProgressiveOptions, 'signal'>;
}

/** Errors are sent as fields: threads cannot transfer error objects. */
export type IndexReply<Result = IndexProgressiveResult | ProbedFile | undefined> =
  | { readonly result: Result }
  | { readonly message: string; readonly systemCode: string | undefined };

const signal = new AbortController().signal;

parentPort?.on('message', async ({ path, options }: IndexRequest) => {
  try {
    const result =
      options === undefined ? await describe(path) : await indexProgressive(path, { ...options, signal });
    reply({ result });
  } catch (error) {
    reply({
      message: messageOf(error),
      systemCode: error instanceof AppError ? undefined : systemCodeOf(error),
    });
  }
});

async function describe(path: string): Promise<ProbedFile | undefined> {
  const handle = await open(path, 'r');
  try {
    return await describePlainSource(readerOf(handle), (await handle.stat()).size);
  } finally {
    await handle.close();
  }
}

function reply(message: IndexReply): void {
  parentPort?.postMessage(message);
}
