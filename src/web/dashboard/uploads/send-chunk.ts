import type { ErrorBody } from '../api/api-types.ts';
import { noteRefusal, urlOf } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import { endSession, type ProjectEnvironment, projectHeaders, session } from '../state/session.ts';
import { t } from '../texts/uploads.ts';
import type { ByteRange } from './chunks.ts';

interface ChunkToSend extends ProjectEnvironment {
  readonly videoId: string;
  readonly file: File;
  readonly range: ByteRange;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number) => void;
}

/** Uses `XMLHttpRequest`, which reports upload progress. @throws ApiProblem or DOMException `AbortError` */
export function sendChunk({
  videoId,
  file,
  range: { from, to },
  signal,
  onProgress,
  ...owner
}: ChunkToSend): Promise<void> {
  return new Promise((resolve, reject) => {
    const given = () => new DOMException('The upload was canceled.', 'AbortError');
    if (signal.aborted) return reject(given());
    const request = new XMLHttpRequest();
    const asker = session.peek()?.sessionId;
    const abort = () => request.abort();
    request.open('POST', urlOf('/videos/{videoId}/source', { videoId }));
    for (const [name, value] of Object.entries(projectHeaders(owner))) request.setRequestHeader(name, value);
    request.setRequestHeader('Content-Range', `bytes ${from}-${to}/${file.size}`);
    request.upload.onprogress = ({ loaded }) => onProgress(Math.min(loaded, to - from + 1));
    request.onabort = () => reject(given());
    request.onload = () => {
      if (request.status < 300) return resolve();
      if (request.status === 401) endSession(asker);
      if (request.status === 403) noteRefusal();
      reject(problemOfRequest(request));
    };
    request.onerror = () => reject(new ApiProblem(0, { title: t('uploads.unreachable') }));
    request.onloadend = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort);
    const body = new FormData();
    body.append('file', file.slice(from, to + 1), file.name);
    request.send(body);
  });
}

function problemOfRequest(request: XMLHttpRequest): ApiProblem {
  let body: Partial<ErrorBody> = { title: `${request.status} ${request.statusText}`.trim() };
  try {
    body = JSON.parse(request.responseText) as ErrorBody;
  } catch {
    // A proxy answered.
  }
  const retryAfter = Number(request.getResponseHeader('retry-after') ?? Number.NaN);
  return new ApiProblem(request.status, body, Number.isNaN(retryAfter) ? undefined : retryAfter);
}
