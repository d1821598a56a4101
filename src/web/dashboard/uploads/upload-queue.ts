import { call } from '../api/client.ts';
import { isAbort, problemOf } from '../api/problem.ts';
import { problemText } from '../format/problem-text.ts';
import { chosenEnvironment, type ProjectEnvironment, projectHeaders, session } from '../state/session.ts';
import { t } from '../texts/uploads.ts';
import { showError, showToast } from '../ui/toast.tsx';
import { chunkBytesFor } from './chunks.ts';
import { fileRefusal } from './file-refusal.ts';
import { fingerprintOf } from './fingerprint.ts';
import { followOtherTabs, uploadsInOtherTabs } from './other-tabs.ts';
import { describeMismatch, type ResumableUpload } from './resumable-upload.ts';
import { sendFile } from './send-file.ts';
import { SpeedMeter } from './speed-meter.ts';
import { isActive, isFinished, type NewVideoOptions, titleOf, type Upload } from './upload.ts';
import { isVideoGone } from './upload-failure.ts';
import {
  addUploads,
  changeUpload,
  findUpload,
  forgetUpload,
  rememberUpload,
  removeUpload,
  removeUploads,
  resumableUploads,
  uploads,
  videosChanged,
} from './upload-store.ts';
import { isRefused } from './upload-summary.ts';

const maxConcurrentUploads = 2;
const maxFiles = 500;

interface UploadJob {
  readonly file: File;
  /** Options for the video that is created from the file. */
  readonly options?: NewVideoOptions | undefined;
  readonly chunkBytes: number;
  readonly targetVideoId?: string | undefined;
  /** Bytes that the server has confirmed. */
  storedBytes: number;
  /** The running creation, which is neither stopped nor repeated. */
  creation?: Promise<string> | undefined;
  abort?: AbortController;
}

const jobs = new Map<string, UploadJob>();

followOtherTabs({
  heldHere: () => uploads.peek().flatMap(({ id, videoId }) => (jobs.has(id) && videoId ? [videoId] : [])),
  // A busy tab answers late.
  onHeld: held => {
    for (const { id, videoId, state } of uploads.peek())
      if (state === 'interrupted' && videoId !== undefined && held.includes(videoId)) removeUpload(id);
  },
});
addEventListener('beforeunload', event => {
  if (uploads.peek().some(isActive)) event.preventDefault();
});

export function uploadFiles(files: readonly File[], options?: NewVideoOptions): void {
  addUploads(files.slice(0, maxFiles).map(file => newUpload(file, titleOf(file.name), { options })));
  if (files.length > maxFiles) showToast(t('uploads.onlyFirst', { count: maxFiles }));
  startNext();
}

export function uploadInto({ videoId, title }: { videoId: string; title: string }, file: File): void {
  addUploads([newUpload(file, title, { targetVideoId: videoId })]);
  startNext();
}

function newUpload(file: File, title: string, target: Pick<UploadJob, 'options' | 'targetVideoId'>): Upload {
  const refusal = fileRefusal(file);
  const id = crypto.getRandomValues(new Uint32Array(2)).join('-');
  if (refusal === undefined)
    jobs.set(id, { ...target, file, chunkBytes: chunkBytesFor(file.size), storedBytes: 0 });
  return {
    id,
    title,
    fileName: file.name,
    fileBytes: file.size,
    isOfExistingVideo: target.targetVideoId !== undefined,
    sentBytes: 0,
    ...chosenEnvironment(),
    state: refusal === undefined ? 'waiting' : 'failed',
    problem: refusal === undefined ? undefined : () => fileRefusal(file),
  };
}

export function pauseUpload(id: string): void {
  const work = jobs.get(id);
  work?.abort?.abort();
  const sentBytes = work?.storedBytes ?? 0;
  changeUpload(id, { state: 'paused', problem: undefined, bytesPerSecond: undefined, sentBytes });
  startNext();
}

export function resumeUpload(id: string): void {
  if (!jobs.has(id)) return;
  changeUpload(id, { state: 'waiting', problem: undefined });
  startNext();
}

/** Repeats failed uploads whose file the browser can still read. */
export function retryFailedUploads(): void {
  const failed = uploads.peek().filter(({ id, state }) => state === 'failed' && jobs.has(id));
  for (const { id } of failed) changeUpload(id, { state: 'waiting', problem: undefined });
  startNext();
}

export function hasFile(id: string): boolean {
  return jobs.has(id);
}

export async function chooseFile(id: string, file: File): Promise<void> {
  const { videoId } = findUpload(id) ?? {};
  const remembered = resumableUploads().find(entry => entry.videoId === videoId);
  if (remembered === undefined) return removeUpload(id);
  const fingerprint = await fingerprintOf(file).catch(() => undefined);
  const problem = () =>
    fingerprint === undefined ? t('uploads.unreadable') : describeMismatch(remembered, file, fingerprint);
  if (problem() !== undefined) return changeUpload(id, { problem });
  jobs.set(id, { file, chunkBytes: remembered.chunkBytes, storedBytes: 0 });
  resumeUpload(id);
}

export async function cancelUpload(id: string): Promise<void> {
  const upload = findUpload(id);
  if (upload === undefined) return;
  jobs.get(id)?.abort?.abort();
  jobs.delete(id);
  removeUpload(id);
  startNext();
  await removeRest(upload);
}

/** Cancels uploads that are not done yet. */
export async function cancelAllUploads(): Promise<void> {
  const open = uploads.peek().filter(upload => !isFinished(upload) && !isRefused(upload));
  const ids = new Set(open.map(({ id }) => id));
  for (const id of ids) {
    jobs.get(id)?.abort?.abort();
    jobs.delete(id);
  }
  removeUploads(({ id }) => ids.has(id));
  for (const upload of open) await removeRest(upload);
}

export function dismissFinished(): void {
  for (const { id, state } of uploads.peek()) if (state === 'failed') jobs.delete(id);
  removeUploads(upload => isFinished(upload) || isRefused(upload));
}

export async function showInterrupted(): Promise<void> {
  const held = await uploadsInOtherTabs();
  const shown = new Set(uploads.peek().map(({ videoId }) => videoId));
  for (const entry of resumableUploads()) {
    if (shown.has(entry.videoId) || held.has(entry.videoId)) continue;
    const { videoId, title, fileName, fileBytes, isOfExistingVideo } = entry;
    const id = videoId;
    const { environment, projectId } = entry;
    const state = 'interrupted';
    const video = { videoId, isOfExistingVideo, title, environment, projectId };
    addUploads([{ id, ...video, fileName, fileBytes, state, sentBytes: 0 }]);
    void loadReceived(id, entry);
  }
}

export function clearUploads(): void {
  for (const { abort } of jobs.values()) abort?.abort();
  jobs.clear();
  uploads.value = [];
}

/** Keeps a video that was there before and has received nothing. */
async function removeRest({ videoId, isOfExistingVideo, sentBytes, ...owner }: Upload): Promise<void> {
  if (videoId === undefined) return;
  if (isOfExistingVideo && sentBytes === 0) forgetUpload(videoId);
  else await deleteVideo(videoId, owner);
}

async function deleteVideo(videoId: string, owner: ProjectEnvironment): Promise<void> {
  forgetUpload(videoId);
  try {
    await call('DELETE /videos/{videoId}', {
      params: { videoId },
      query: { permanently: 'true' },
      headers: projectHeaders(owner),
    });
  } catch (error) {
    if (!isVideoGone(problemOf(error))) showError(error);
  }
  videosChanged();
}

async function loadReceived(id: string, { videoId, ...owner }: ResumableUpload) {
  try {
    const { ingest } = await call('GET /videos/{videoId}/status', {
      params: { videoId },
      headers: projectHeaders(owner),
    });
    const isComplete = ingest !== undefined && !['uploading', 'failed'].includes(ingest.status);
    if (isComplete) throw new Error('complete');
    const received = (ingest?.receivedBytes ?? []).reduce((sum, { from, to }) => sum + to - from + 1, 0);
    changeUpload(id, { sentBytes: received });
  } catch (error) {
    const problem = problemOf(error);
    if (!isVideoGone(problem) && problem.message !== 'complete') return;
    forgetUpload(videoId);
    removeUpload(id);
  }
}

function startNext(): void {
  for (const { id } of uploads.peek().filter(({ state }) => state === 'waiting')) {
    const active = uploads.peek().filter(({ state }) => state === 'sending' || state === 'retrying').length;
    if (active >= maxConcurrentUploads) return;
    void send(id);
  }
}

async function send(id: string): Promise<void> {
  const work = jobs.get(id);
  if (work === undefined) return;
  const abort = new AbortController();
  work.abort = abort;
  changeUpload(id, { state: 'sending' });
  try {
    const isNew = findUpload(id)?.videoId === undefined;
    const videoId = findUpload(id)?.videoId ?? (await ensureVideo(id, work));
    const pace = new SpeedMeter();
    await sendFile({
      videoId,
      isNew,
      file: work.file,
      chunkBytes: work.chunkBytes,
      signal: abort.signal,
      ...ownerOf(findUpload(id)),
      onProgress: sentBytes => {
        if (abort.signal.aborted) return;
        pace.record(performance.now(), sentBytes);
        changeUpload(id, { sentBytes, bytesPerSecond: pace.bytesPerSecond });
      },
      onStored: bytes => {
        work.storedBytes = bytes;
      },
      onWaiting: problem => {
        if (abort.signal.aborted) return;
        if (problem === undefined) changeUpload(id, { state: 'sending', problem: undefined });
        else
          changeUpload(id, {
            state: 'retrying',
            problem: () => (problem.status === 0 ? t('uploads.unreachable') : problemText(problem)),
          });
      },
    });
    jobs.delete(id);
    forgetUpload(videoId);
    changeUpload(id, { state: 'processing', sentBytes: work.file.size, bytesPerSecond: undefined });
    videosChanged();
  } catch (error) {
    // The state was set by the one who aborted.
    if (abort.signal.aborted || isAbort(error)) return;
    const problem = problemOf(error);
    const isGone = problem.status === 404;
    const { videoId } = findUpload(id) ?? {};
    if (isGone && videoId !== undefined) forgetUpload(videoId);
    if (isGone) jobs.delete(id);
    changeUpload(id, {
      state: 'failed',
      bytesPerSecond: undefined,
      ...(isGone
        ? { videoId: undefined, problem: () => t('uploads.videoDeleted') }
        : { problem: () => problemText(problem) }),
    });
  }
  startNext();
}

function ownerOf(upload: ProjectEnvironment | undefined): ProjectEnvironment {
  const { environment, projectId } = upload ?? chosenEnvironment();
  return { environment, projectId };
}

function ensureVideo(id: string, work: UploadJob): Promise<string> {
  work.creation ??= createVideo(id, work).finally(() => {
    work.creation = undefined;
  });
  return work.creation;
}

/** Creates the video. Not interrupted, because an unknown video would be left. */
async function createVideo(
  id: string,
  { file, options, chunkBytes, targetVideoId }: UploadJob,
): Promise<string> {
  const { title, ...upload } = findUpload(id)!;
  const owner = ownerOf(upload);
  const accountId = session.peek()?.account.accountId ?? '';
  const fingerprint = await fingerprintOf(file);
  const headers = projectHeaders(owner);
  const videoId =
    targetVideoId ?? (await call('POST /videos', { body: { ...options, title }, headers })).videoId;
  rememberUpload({
    ...owner,
    videoId,
    title,
    chunkBytes,
    fileName: file.name,
    fileBytes: file.size,
    lastModified: file.lastModified,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(targetVideoId === undefined ? {} : { isOfExistingVideo: true }),
    accountId,
  });
  changeUpload(id, { videoId });
  if (findUpload(id) !== undefined) videosChanged();
  else if (targetVideoId === undefined) await deleteVideo(videoId, owner);
  else forgetUpload(videoId);
  return videoId;
}
