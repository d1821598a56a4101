import { BackOff } from '../../shared/back-off.ts';
import { call } from '../api/client.ts';
import { ApiProblem, isAbort, problemOf } from '../api/problem.ts';
import { type ProjectEnvironment, projectHeaders } from '../state/session.ts';
import { t } from '../texts/uploads.ts';
import { type ByteRange, countSentBytes, missingChunks } from './chunks.ts';
import { sendChunk } from './send-chunk.ts';
import { classifyFailure } from './upload-failure.ts';

const initialRetryMs = 1_000;
const maxRetryMs = 30_000;
/** Consecutive failures that are not about the connection. */
const maxTries = 8;

interface FileToSend extends ProjectEnvironment {
  readonly videoId: string;
  readonly file: File;
  readonly chunkBytes: number;
  readonly isNew: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number) => void;
  /** Bytes that the server has confirmed. */
  readonly onStored: (bytes: number) => void;
  /** `problem` is undefined when the upload continues. */
  readonly onWaiting: (problem: ApiProblem | undefined) => void;
}

/** Retries for as long as the server cannot be reached. @throws ApiProblem or DOMException `AbortError` */
export async function sendFile(upload: FileToSend): Promise<void> {
  const backOff = new BackOff(initialRetryMs, maxRetryMs);
  let tries = 0;
  let isKnown = upload.isNew;
  for (;;) {
    try {
      const missing = await findMissing(upload, isKnown);
      isKnown = false;
      await sendChunks(upload, missing, () => {
        tries = 0;
        backOff.reset();
        upload.onWaiting(undefined);
      });
      return;
    } catch (error) {
      if (isAbort(error)) throw error;
      const problem = problemOf(error);
      if (problem.status === 0) await ensureReadable(upload.file);
      const verdict = classifyFailure(problem.status, problem.code);
      if (verdict === 'try-again') tries += 1;
      if (verdict === 'give-up' || tries > maxTries) throw problem;
      const waitMs = Math.max(backOff.next(), (problem.retryAfterSeconds ?? 0) * 1_000);
      upload.onWaiting(problem);
      await wait(waitMs, upload.signal);
    }
  }
}

async function findMissing(
  { videoId, file, chunkBytes, signal, ...owner }: FileToSend,
  isNew: boolean,
): Promise<ByteRange[]> {
  if (isNew) return missingChunks(file.size, chunkBytes, []);
  const { ingest, encoding } = await call('GET /videos/{videoId}/status', {
    params: { videoId },
    headers: projectHeaders(owner),
    signal,
  });
  // The previous file failed, and nothing of the new one has arrived.
  const hasFailed = ingest?.status === 'failed' || (encoding.failure !== undefined && !encoding.playable);
  if (hasFailed) return missingChunks(file.size, chunkBytes, []);
  if (ingest !== undefined && ingest.status !== 'uploading') return [];
  return missingChunks(file.size, chunkBytes, ingest?.receivedBytes ?? []);
}

async function sendChunks(
  upload: FileToSend,
  missing: readonly ByteRange[],
  sent: () => void,
): Promise<void> {
  let done = countSentBytes(upload.file.size, missing);
  upload.onProgress(done);
  upload.onStored(done);
  for (const range of missing) {
    await sendChunk({ ...upload, range, onProgress: bytes => upload.onProgress(done + bytes) });
    done += range.to - range.from + 1;
    upload.onProgress(done);
    upload.onStored(done);
    sent();
  }
}

/** Browsers report a changed or moved file as a network error. @throws ApiProblem when it cannot be read */
async function ensureReadable(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    throw new ApiProblem(400, {
      title: t('uploads.unreadable'),
      detail: t('uploads.changed'),
    });
  }
}

function wait(waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(new DOMException('The upload was stopped.', 'AbortError'));
      else resolve();
    };
    const timer = setTimeout(end, waitMs);
    addEventListener('online', end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
