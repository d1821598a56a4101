import { join } from 'node:path';
import { type AudioLabel, type Mp4Input, mp4Command } from '../../ffmpeg/arguments/remux-commands.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { isLeftOut, parseAudioRenditionName } from '../../shared/audio-rendition.ts';
import type { EncodingState, StoredRendition } from '../encoding-repository.ts';
import { TIMELINE_START_SECONDS } from '../index/rendition.ts';
import type { RenditionRecord } from '../playback/rendition-record.ts';
import { probeSource } from '../source/probe-source.ts';
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
  const tracks = state.renditions.filter(
    ({ type, quality, status }) =>
      type === 'audio' && status === 'encoded' && parseAudioRenditionName(quality)?.isSurround === false,
  );
  if (video === undefined || isAudioMissing(state)) return;
  await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    await records.markStarted(videoId, [wanted], transaction);
  });
  const bytes = (await context.reader.open(files.video(videoId, video.file!))).renditionMetadata.bytes;
  await context.files.ensureFreeSpace(2 * bytes, context.settings.minFreeBytes);
  await files.inWorkFolder(async folder => {
    const output = join(folder, 'source.mp4');
    const seconds = durationOf(video);
    await withInputs(context, job, state, { video, tracks }, async inputs => {
      await tools.runCommand(mp4Command({ ...inputs, output }), {
        limits: runLimitsFor(context, seconds, 2 * bytes + 256 * 1024 ** 2),
        signal: job.signal,
        purpose: 'mp4',
        ids: { videoId },
        onProgress: ({ timeSeconds }) => job.reportProgress(Math.min(99, (100 * timeSeconds) / seconds)),
      });
    });
    await files.publish(output, files.video(videoId, 'mp4', 'source.mp4'), job.signal);
    const finished = {
      type: 'mp4',
      quality: wanted.quality,
      file: 'mp4/source.mp4',
      renditionMetadata: {},
    } as const;
    await records.transaction(async transaction => {
      await job.ensureOwned(transaction);
      await records.markFinished(videoId, [finished], undefined, transaction);
    });
  });
}

function isAudioMissing({ renditions }: EncodingState): boolean {
  return renditions.some(one => one.type === 'audio' && one.status !== 'encoded' && !isLeftOut(one));
}

/** Runs work with local copies of the renditions. */
async function withInputs(
  context: VodContext,
  job: RunningJob,
  state: EncodingState,
  { video, tracks }: { readonly video: StoredRendition; readonly tracks: readonly StoredRendition[] },
  work: (inputs: Omit<Parameters<typeof mp4Command>[0], 'output'>) => Promise<void>,
): Promise<void> {
  const ordered = orderedTracks(tracks, state);
  const withAudio = async (
    videoInput: Mp4Input,
    audio: readonly (Mp4Input & AudioLabel)[],
  ): Promise<void> => {
    const next = ordered[audio.length];
    if (next === undefined) return work({ video: videoInput, audio });
    await withInput(context, job, next.rendition, 'audio', input =>
      withAudio(videoInput, [...audio, { ...input, ...next.label }]),
    );
  };
  await withInput(context, job, video, 'video', input => withAudio(input, []));
}

async function withInput(
  context: VodContext,
  { subjectId: videoId, signal }: RunningJob,
  { file = '', renditionMetadata }: StoredRendition,
  kind: 'video' | 'audio',
  work: (input: Mp4Input) => Promise<void>,
): Promise<void> {
  const { files } = context;
  const isEncoded = encodedIndex.test(file);
  const stored = isEncoded
    ? files.video(videoId, file.replace(encodedIndex, '.mp4'))
    : await passthroughFile(context, videoId, file);
  await files.storage.withLocal(
    stored,
    async path => {
      if (isEncoded) return work({ path, index: 0, startSeconds: TIMELINE_START_SECONDS });
      const probed = await probeSource(context, path, signal);
      const plan = planSource(probed, {});
      const index = plan.kind === 'planned' ? plan[kind]?.index : undefined;
      const { stream } = (renditionMetadata ?? {}) as Partial<RenditionRecord>;
      // Starts at 0: clips have earlier audio that only decoders need. It gets an edit list.
      const startSeconds = Math.max(0, probed.startSeconds ?? 0);
      return work({ path, index: stream ?? index ?? 0, startSeconds });
    },
    signal,
  );
}

/** The default first. */
export function orderedTracks(tracks: readonly StoredRendition[], { audioTracks }: EncodingState) {
  const positions = new Map(audioTracks.map(({ track }, place) => [track, place]));
  const known = (track: number) => audioTracks.find(one => one.track === track);
  return tracks
    .map(rendition => {
      const { track } = parseAudioRenditionName(rendition.quality)!;
      const { language, name, isDefault = false } = known(track) ?? {};
      return { rendition, track, isDefault, label: { language, title: name } };
    })
    .toSorted(
      (one, other) =>
        Number(other.isDefault) - Number(one.isDefault) ||
        (positions.get(one.track) ?? one.track) - (positions.get(other.track) ?? other.track),
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

function durationOf({ renditionMetadata }: StoredRendition): number {
  return Math.max(0.001, (renditionMetadata as { durationSeconds?: number }).durationSeconds ?? 0);
}
