import { parentPort } from 'node:worker_threads';
import { AppError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import {
  type IndexProgressiveOptions,
  type IndexProgressiveResult,
  indexProgressive,
} from './index-progressive.ts';

export interface IndexRequest {
  readonly path: string;
  readonly options: Omit<IndexProgressiveOptions, 'signal'>;
}

/** Errors are sent as fields: threads cannot transfer error objects. */
export type IndexReply =
  | { readonly result: IndexProgressiveResult }
  | { readonly message: string; readonly systemCode: string | undefined };

const signal = new AbortController().signal;

parentPort?.on('message', async ({ path, options }: IndexRequest) => {
  try {
    reply({ result: await indexProgressive(path, { ...options, signal }) });
  } catch (error) {
    reply({
      message: messageOf(error),
      systemCode: error instanceof AppError ? undefined : systemCodeOf(error),
    });
  }
});

function reply(message: IndexReply): void {
  parentPort?.postMessage(message);
}
