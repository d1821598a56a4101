import { call } from '../api/client.ts';
import { isAbort, problemOf } from '../api/problem.ts';
import { type Environment, environment, session } from '../state/session.ts';
import { tell, tellProblem } from '../ui/toast.tsx';
import { chunkBytesFor, fileRefusal } from './chunks.ts';
import { fingerprintOf } from './fingerprint.ts';
import { followOtherTabs, heldElsewhere } from './other-tabs.ts';
import { Pace } from './pace.ts';
import { otherFileReason, type RememberedUpload } from './remembered.ts';
import { sendFile } from './send-file.ts';
import { isOver, isUnderWay, titleOf } from './upload.ts';
import {
  addUpload,
  changeUpload,
  findUpload,
  forget,
  remember,
  rememberedUploads,
  removeUpload,
  uploads,
  videosChanged,
} from './upload-store.ts';

const sentAtOnce = 2;
const filesAtMost = 100;

/** What is needed to send an upload, beside what is shown of it. */
interface Work {
  readonly file: File;
  readonly chunkBytes: number;
  /** The video that it is the file of; undefined makes a new one. */
  readonly into?: string | undefined;
  /** What the server has for sure. */
  storedBytes: number;
  /** Id of the video while it is being made. That is not stopped, and not begun again by whoever goes on meanwhile. */
  making?: Promise<string> | undefined;
  /** Stops what is under way. */
  abort?: AbortController;
}

const works = new Map<string, Work>();

followOtherTabs({
  heldHere: () => uploads.peek().flatMap(({ id, videoId }) => (works.has(id) && videoId ? [videoId] : [])),
  // A tab that is busy answers late.
  onHeld: held => {
    for (const { id, videoId, state } of uploads.peek())
      if (state === 'interrupted' && videoId !== undefined && held.includes(videoId)) removeUpload(id);
  },
});
addEventListener('beforeunload', event => {
  if (uploads.peek().some(isUnderWay)) event.preventDefault();
});

/** Uploads files to the environment that is shown, each to a new video, a few at a time. */
export function uploadFiles(files: readonly File[]): void {
  for (const file of files.slice(0, filesAtMost)) addFile(file, titleOf(file.name));
  if (files.length > filesAtMost) tell(`The first ${filesAtMost} files were taken.`);
  sendNext();
}

/** Uploads the file of a video that has none yet, or whose file failed, in the environment that is shown. */
export function uploadInto({ videoId, title }: { videoId: string; title: string }, file: File): void {
  addFile(file, title, videoId);
  sendNext();
}

function addFile(file: File, title: string, into?: string): void {
  const refusal = fileRefusal(file.size);
  const id = crypto.getRandomValues(new Uint32Array(2)).join('-');
  if (refusal === undefined)
    works.set(id, { file, into, chunkBytes: chunkBytesFor(file.size), storedBytes: 0 });
  addUpload({
    ...{ id, title, fileName: file.name, fileBytes: file.size, sentBytes: 0 },
    environment: environment.peek(),
    state: refusal === undefined ? 'waiting' : 'failed',
    problem: refusal,
  });
}

/** Stops an upload until it is resumed. */
export function pauseUpload(id: string): void {
  const work = works.get(id);
  work?.abort?.abort();
  const sentBytes = work?.storedBytes ?? 0;
  changeUpload(id, { state: 'paused', problem: undefined, bytesPerSecond: undefined, sentBytes });
  sendNext();
}

/** Goes on with an upload that is paused or failed. */
export function resumeUpload(id: string): void {
  if (!works.has(id)) return;
  changeUpload(id, { state: 'waiting', problem: undefined });
  sendNext();
}

/** Whether an upload has a file to be sent. */
export function hasFile(id: string): boolean {
  return works.has(id);
}

/** Goes on with an interrupted upload, if this is its file. */
export async function chooseFile(id: string, file: File): Promise<void> {
  const { videoId } = findUpload(id) ?? {};
  const remembered = rememberedUploads().find(entry => entry.videoId === videoId);
  if (remembered === undefined) return removeUpload(id);
  let reason: string | undefined;
  try {
    reason = otherFileReason(remembered, file, await fingerprintOf(file));
  } catch {
    reason = 'The file cannot be read.';
  }
  if (reason !== undefined) return changeUpload(id, { problem: reason });
  works.set(id, { file, chunkBytes: remembered.chunkBytes, storedBytes: 0 });
  resumeUpload(id);
}

/** Gives an upload up; the video that has a part of the file, if any, is deleted for good. */
export async function cancelUpload(id: string): Promise<void> {
  const upload = findUpload(id);
  if (upload === undefined) return;
  works.get(id)?.abort?.abort();
  works.delete(id);
  removeUpload(id);
  sendNext();
  if (upload.videoId !== undefined) await deleteVideo(upload.videoId, upload.environment);
}

/** Shows those no more that nothing is left to do for. */
export function dismissOver(): void {
  for (const upload of uploads.peek()) {
    if (isOver(upload) || (upload.state === 'failed' && upload.videoId === undefined))
      removeUpload(upload.id);
  }
}

/** Shows the uploads of whoever is signed in that were under way when the dashboard was closed. */
export async function showInterrupted(): Promise<void> {
  const held = await heldElsewhere();
  const shown = new Set(uploads.peek().map(({ videoId }) => videoId));
  for (const entry of rememberedUploads()) {
    if (shown.has(entry.videoId) || held.has(entry.videoId)) continue;
    const { videoId, title, fileName, fileBytes } = entry;
    const id = videoId;
    addUpload({
      ...{ id, title, fileName, fileBytes, videoId, environment: entry.environment },
      ...{ state: 'interrupted', sentBytes: 0 },
    });
    void showReceived(id, entry);
  }
}

/** Stops everything, and shows nothing: another person is signed in now. */
export function leaveUploads(): void {
  for (const { abort } of works.values()) abort?.abort();
  works.clear();
  uploads.value = [];
}

async function deleteVideo(videoId: string, environment: Environment): Promise<void> {
  forget(videoId);
  try {
    await call('DELETE /videos/{videoId}', {
      params: { videoId },
      query: { permanently: 'true' },
      headers: { 'Millrace-Environment': environment },
    });
  } catch (error) {
    if (problemOf(error).status !== 404) tellProblem(error);
  }
  videosChanged();
}

/** How much of an interrupted upload the server has; nothing is shown any more of one whose video is gone or complete. */
async function showReceived(id: string, { videoId, environment }: RememberedUpload) {
  try {
    const { ingest } = await call('GET /videos/{videoId}/status', {
      params: { videoId },
      headers: { 'Millrace-Environment': environment },
    });
    const isComplete = ingest !== undefined && !['uploading', 'failed'].includes(ingest.status);
    if (isComplete) throw new Error('complete');
    const received = (ingest?.receivedBytes ?? []).reduce((sum, { from, to }) => sum + to - from + 1, 0);
    changeUpload(id, { sentBytes: received });
  } catch (error) {
    const { status, message } = problemOf(error);
    if (status !== 404 && message !== 'complete') return;
    forget(videoId);
    removeUpload(id);
  }
}

function sendNext(): void {
  for (const { id } of uploads.peek().filter(({ state }) => state === 'waiting')) {
    const active = uploads.peek().filter(({ state }) => state === 'sending' || state === 'retrying').length;
    if (active >= sentAtOnce) return;
    void send(id);
  }
}

async function send(id: string): Promise<void> {
  const work = works.get(id);
  if (work === undefined) return;
  const abort = new AbortController();
  work.abort = abort;
  changeUpload(id, { state: 'sending' });
  try {
    const isNew = findUpload(id)?.videoId === undefined;
    const videoId = findUpload(id)?.videoId ?? (await madeVideo(id, work));
    const pace = new Pace();
    await sendFile({
      ...{ videoId, isNew, file: work.file, chunkBytes: work.chunkBytes, signal: abort.signal },
      environment: findUpload(id)?.environment ?? environment.peek(),
      onProgress: sentBytes => {
        if (abort.signal.aborted) return;
        pace.mark(performance.now(), sentBytes);
        changeUpload(id, { sentBytes, bytesPerSecond: pace.bytesPerSecond });
      },
      onStored: bytes => {
        work.storedBytes = bytes;
      },
      onWaiting: problem => {
        if (abort.signal.aborted) return;
        if (problem === undefined) changeUpload(id, { state: 'sending', problem: undefined });
        // What to do about a lost connection is known: it is tried again.
        else
          changeUpload(id, {
            state: 'retrying',
            problem: problem.status === 0 ? problem.message : problem.text,
          });
      },
    });
    works.delete(id);
    forget(videoId);
    changeUpload(id, { state: 'processing', sentBytes: work.file.size, bytesPerSecond: undefined });
    videosChanged();
  } catch (error) {
    // Whoever stopped it has said what it is now.
    if (abort.signal.aborted || isAbort(error)) return;
    const problem = problemOf(error);
    const isGone = problem.status === 404;
    const { videoId } = findUpload(id) ?? {};
    if (isGone && videoId !== undefined) forget(videoId);
    if (isGone) works.delete(id);
    changeUpload(id, {
      ...{ state: 'failed', bytesPerSecond: undefined },
      ...(isGone
        ? { videoId: undefined, problem: 'The video was deleted meanwhile.' }
        : { problem: problem.text }),
    });
  }
  sendNext();
}

/** The video that is being made, or is made from now on. */
function madeVideo(id: string, work: Work): Promise<string> {
  work.making ??= makeVideo(id, work).finally(() => {
    work.making = undefined;
  });
  return work.making;
}

/** Makes the video that a file becomes, unless it is there, and remembers it. That is not stopped half-way: a video that nobody knows of would be left. */
async function makeVideo(id: string, { file, chunkBytes, into }: Work): Promise<string> {
  const { title, environment } = findUpload(id)!;
  const accountId = session.peek()?.account.accountId ?? '';
  const fingerprint = await fingerprintOf(file);
  const headers = { 'Millrace-Environment': environment };
  const videoId = into ?? (await call('POST /videos', { body: { title }, headers })).videoId;
  remember({
    ...{ videoId, environment, title, chunkBytes },
    ...{ fileName: file.name, fileBytes: file.size, lastModified: file.lastModified },
    ...(fingerprint === undefined ? {} : { fingerprint }),
    accountId,
  });
  changeUpload(id, { videoId });
  if (findUpload(id) === undefined) await deleteVideo(videoId, environment);
  else videosChanged();
  return videoId;
}
