import { join } from 'node:path';
import { type Mp4Input, mp4Command } from '../../ffmpeg/arguments/remux-commands.ts';
import type { RunningJob } from '../../jobs/job.ts';
import type { EncodingState, StoredRendition } from '../encoding-repository.ts';
import { TIMELINE_START_SECONDS } from '../index/rendition.ts';
import { planSource } from '../source/source-plan.ts';
import { runLimitsFor, type VodContext } from '../vod-context.ts';

const encodedIndex = /\.mp4\.index$/;

export async function makeMp4(context: VodContext, job: RunningJob): Promise<void> {
  const { records, files, tools } = context;
  const videoId = job.subjectId;
  const state = await records.state(videoId);
  const wanted = state?.renditions.find(({ type }) => type === 'mp4');
  if (state === undefined || wanted === undefined || wanted.status === 'encoded') return;
  const find = (type: string, quality: string) =>
    state.renditions.find(one => one.type === type && one.quality === quality && one.status === 'encoded');
  const video = find('hls', wanted.quality);
  const audio = find('audio', 'audio');
  if (video === undefined || isAudioMissing(state)) return;
  await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    await records.markStarted(videoId, [wanted], transaction);
  });
  const bytes = (await context.reader.open(files.video(videoId, video.file!))).facts.bytes;
  await context.files.ensureFreeSpace(2 * bytes, context.settings.minFreeBytes);
  await files.inWorkFolder(async folder => {
    const output = join(folder, 'source.mp4');
    const seconds = durationOf(video);
    await withInputs(context, job, { video, audio }, async inputs => {
      await tools.runCommand(mp4Command({ ...inputs, output }), {
        limits: runLimitsFor(context, seconds, 2 * bytes + 256 * 1024 ** 2),
        signal: job.signal,
        purpose: 'mp4',
        ids: { videoId },
        onProgress: ({ timeSeconds }) => job.reportProgress(Math.min(99, (100 * timeSeconds) / seconds)),
      });
    });
    await files.publish(output, files.video(videoId, 'mp4', 'source.mp4'), job.signal);
    const finished = { type: 'mp4', quality: wanted.quality, file: 'mp4/source.mp4', facts: {} } as const;
    await records.transaction(async transaction => {
      await job.ensureOwned(transaction);
      await records.markFinished(videoId, [finished], undefined, transaction);
    });
  });
}

function isAudioMissing({ renditions }: EncodingState): boolean {
  return renditions.some(({ type, status }) => type === 'audio' && status !== 'encoded');
}

/** With local files. */
async function withInputs(
  context: VodContext,
  job: RunningJob,
  { video, audio }: { readonly video: StoredRendition; readonly audio: StoredRendition | undefined },
  work: (inputs: { video: Mp4Input; audio: Mp4Input | undefined }) => Promise<void>,
): Promise<void> {
  await withInput(context, job, video, 'video', async videoInput => {
    if (audio === undefined) await work({ video: videoInput, audio: undefined });
    else {
      await withInput(context, job, audio, 'audio', audioInput =>
        work({ video: videoInput, audio: audioInput }),
      );
    }
  });
}

async function withInput(
  context: VodContext,
  { subjectId: videoId, signal }: RunningJob,
  { file = '' }: StoredRendition,
  kind: 'video' | 'audio',
  work: (input: Mp4Input) => Promise<void>,
): Promise<void> {
  const { files, tools } = context;
  const isEncoded = encodedIndex.test(file);
  const stored = isEncoded
    ? files.video(videoId, file.replace(encodedIndex, '.mp4'))
    : await passthroughFile(context, videoId, file);
  await files.storage.withLocal(
    stored,
    async path => {
      if (isEncoded) return work({ path, index: 0, startSeconds: TIMELINE_START_SECONDS });
      const probed = await tools.probe(path, signal);
      const plan = planSource(probed, {});
      const index = plan.kind === 'planned' ? plan[kind]?.index : undefined;
      return work({ path, index: index ?? 0, startSeconds: probed.startSeconds ?? 0 });
    },
    signal,
  );
}

async function passthroughFile(
  { reader, files }: VodContext,
  videoId: string,
  file: string,
): Promise<string> {
  const { parts } = await (await reader.open(files.video(videoId, file))).readSegment(0);
  for (const piece of parts) if ('path' in piece) return piece.path;
  return files.source(videoId);
}

function durationOf({ facts }: StoredRendition): number {
  return Math.max(0.001, (facts as { durationSeconds?: number }).durationSeconds ?? 0);
}
