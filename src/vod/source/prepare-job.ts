import { open } from 'node:fs/promises';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import { mediaRefused } from '../../ffmpeg/probe/probe-output.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { isEncrypted } from '../../media/cmaf/is-encrypted.ts';
import { findMixedEntries } from '../../media/cmaf/mixed-entries.ts';
import type { EncodingRequest } from '../encoding-repository.ts';
import { readerOf } from '../index/index-progressive.ts';
import type { VodContext } from '../vod-context.ts';
import { indexPassthrough, isMp4, planPassthrough } from './passthrough.ts';
import { describePlain } from './probe-source.ts';
import { planUsableSource } from './source-plan.ts';
import { sourceRequestOf } from './source-request.ts';
import { withSource } from './with-source.ts';

/** Stores all results in one transaction at the end, so that the job can start again after a crash. */
export async function prepareVideo(context: VodContext, job: RunningJob): Promise<void> {
  const { records, folders } = context;
  const videoId = job.subjectId;
  const request = await records.request(videoId);
  if (request === undefined) return;
  const before = await records.state(videoId);
  if (before !== undefined && before.renditions.length > 0) return;
  await folders.during(job, records, () =>
    withSource(context, videoId, path => prepare(context, job, request, path), job.signal),
  );
}

async function prepare(
  context: VodContext,
  job: RunningJob,
  request: EncodingRequest,
  path: string,
): Promise<void> {
  const { records, folders, clock, settings } = context;
  const videoId = job.subjectId;
  const parse = isOwnMedia(request) ? <Result>(work: () => Promise<Result>) => work() : job.parse;
  const probed = await parse(() => probeDecodable(context, path, job.signal));
  const sourceRequest = {
    ...sourceRequestOf(request, settings.sandboxVideoMs),
    ...(request.isJoined ? { canPassthroughVideo: false, canPassthroughAudio: false } : {}),
  };
  const plan = planUsableSource(probed, sourceRequest);
  const { generation, folder, name } = await folders.make(videoId, clock.nowMs());
  const passthrough = await indexPassthrough(context, job, {
    path,
    folder,
    probed,
    plan,
    request: sourceRequest,
    parse,
  });
  if (passthrough.video !== undefined || passthrough.audio !== undefined) {
    await folders.keep(videoId, name, job.signal);
  } else await folders.discard(videoId, name);
  const store = await planPassthrough(context, videoId, passthrough, { generation, name });
  await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    await store(transaction);
  });
}

/** Recordings and parts of our videos are files that this server wrote. */
function isOwnMedia({ origin, isClip }: EncodingRequest): boolean {
  return origin === 'recording' || isClip;
}

async function probeDecodable(context: VodContext, path: string, signal: AbortSignal): Promise<ProbedFile> {
  const plain = await describePlain(context, path, signal);
  if (plain !== undefined) return plain;
  const probed = await context.tools.probe(path, signal);
  if (isMp4(probed)) await rejectUndecodable(path);
  return probed;
}

async function rejectUndecodable(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    // ffmpeg would decode the encrypted bytes as noise.
    if (await isEncrypted(readerOf(handle), size)) {
      throw mediaRefused(
        'The file is encrypted (DRM) and cannot be played. Upload a file without encryption.',
      );
    }
    const mixed = await findMixedEntries(readerOf(handle), size);
    if (mixed !== undefined) {
      throw mediaRefused(
        `The ${mixed.kind} changes its format within one track (${mixed.types.join(', ')}), so a part of it would be lost. Convert it to one format, then upload it again.`,
      );
    }
  } finally {
    await handle.close();
  }
}
