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
  await records.markStarted(videoId, [wanted]);
  const inputs = await inputsOf(context, job, video, audio);
  const bytes = (await context.reader.open(files.video(videoId, video.file!))).facts.bytes;
  await context.files.ensureFreeSpace(2 * bytes, context.settings.minFreeBytes);
  await files.inWorkFolder(async folder => {
    const output = join(folder, 'source.mp4');
    const seconds = durationOf(video);
    await tools.runCommand(mp4Command({ ...inputs, output }), {
      limits: runLimitsFor(context, seconds, 2 * bytes + 256 * 1024 ** 2),
      signal: job.signal,
      purpose: 'mp4',
      ids: { videoId },
      onProgress: ({ timeSeconds }) => job.reportProgress(Math.min(99, (100 * timeSeconds) / seconds)),
    });
    await files.publish(output, files.video(videoId, 'mp4', 'source.mp4'));
    await records.markFinished(videoId, [
      { type: 'mp4', quality: wanted.quality, file: 'mp4/source.mp4', facts: {} },
    ]);
  });
}

function isAudioMissing({ renditions }: EncodingState): boolean {
  return renditions.some(({ type, status }) => type === 'audio' && status !== 'encoded');
}

async function inputsOf(
  context: VodContext,
  job: RunningJob,
  video: StoredRendition,
  audio: StoredRendition | undefined,
): Promise<{ video: Mp4Input; audio: Mp4Input | undefined }> {
  const { files, tools } = context;
  const input = async (rendition: StoredRendition, kind: 'video' | 'audio'): Promise<Mp4Input> => {
    const file = rendition.file!;
    if (encodedIndex.test(file)) {
      const path = files.video(job.subjectId, file.replace(/\.index$/, ''));
      return { path, index: 0, startSeconds: TIMELINE_START_SECONDS };
    }
    const path = await passthroughFile(context, job.subjectId, file);
    const probed = await tools.probe(path, job.signal);
    const plan = planSource(probed, {});
    const index = plan.kind === 'planned' ? plan[kind]?.index : undefined;
    return { path, index: index ?? 0, startSeconds: probed.startSeconds ?? 0 };
  };
  return {
    video: await input(video, 'video'),
    audio: audio === undefined ? undefined : await input(audio, 'audio'),
  };
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
