import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { remuxCommand } from '../../ffmpeg/arguments/remux-commands.ts';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { isCopyableFragmentedFile } from '../../media/cmaf/copyable-fragments.ts';
import { AppError } from '../../shared/errors.ts';
import { canonicalLanguageTag } from '../../shared/text/language-tag.ts';
import type { Transaction } from '../../store/connection.ts';
import { planCodecs } from '../encode/codec-job.ts';
import { ladderOf } from '../encode/ladder.ts';
import type { AudioTrack, FinishedRendition, RenditionName } from '../encoding-repository.ts';
import { type IndexProgressiveResult, type MoreAudio, readerOf } from '../index/index-progressive.ts';
import type { IndexedRendition } from '../index/rendition.ts';
import { type RenditionRecord, recordOf, targetDurationOf } from '../playback/rendition-record.ts';
import { enqueueRequestedCaptions } from '../transcripts/requested-captions.ts';
import { encodePriorityOf, enqueueVodJob, runLimitsFor, type VodContext } from '../vod-context.ts';
import { findChangedConfigs } from './changed-configs.ts';
import { measuredMetadata } from './source-metadata.ts';
import { type PlannedSource, planUsableSource, timingIndexes } from './source-plan.ts';
import { exceedsMaxDuration, type SourceRequest } from './source-request.ts';
import { maxFramesPerSecond } from './video-plan.ts';

export interface Passthrough {
  readonly plan: PlannedSource;
  readonly video: IndexedRendition | undefined;
  readonly audio: IndexedRendition | undefined;
  /** Further audio by name. */
  readonly moreAudio: Readonly<Record<string, MoreIndexedAudio>>;
  readonly mp4: string | undefined;
}

/** `stream` is its index in the file that is passed through. */
type MoreIndexedAudio = IndexedRendition & { readonly stream: number | undefined };

interface Source {
  readonly path: string;
  readonly folder: string;
  readonly probed: ProbedFile;
  readonly plan: PlannedSource;
  readonly request: SourceRequest;
  readonly parse: RunningJob['parse'];
}

interface TrackIndexes {
  readonly video: number | undefined;
  readonly audio: number | undefined;
  readonly more: readonly MoreAudio[];
}

/** Backups and older versions know this name. */
const remuxedFileName = 'carried.mp4';
/** **Source**: EBU R37, audio and video stay within 40 ms. */
const maxUnnoticedOffsetSeconds = 0.04;

export async function indexPassthrough(
  context: VodContext,
  job: RunningJob,
  source: Source,
): Promise<Passthrough> {
  const { probed, plan, request } = source;
  const encodeAll = (): Passthrough => ({
    plan: planUsableSource(probed, { ...request, canPassthroughVideo: false, canPassthroughAudio: false }),
    video: undefined,
    audio: undefined,
    moreAudio: {},
    mp4: undefined,
  });
  const passable = {
    video: plan.video?.isPassthrough === true ? plan.video.index : undefined,
    audio: plan.audio?.isPassthrough === true ? plan.audio.index : undefined,
    more: plan.audioRenditions.filter(one => one !== plan.audio && one.isPassthrough),
  };
  // Passing audio through beside encoded video saves little, and the timing of both would have to agree.
  if (passable.video === undefined && (passable.audio === undefined || plan.video !== undefined))
    return encodeAll();
  const changed = await source.parse(() => findChangedConfigs(source.path, probed.format, job.signal));
  const tracks = changed.audio ? { ...passable, audio: undefined, more: [] } : passable;
  if (changed.video || (tracks.video === undefined && tracks.audio === undefined)) return encodeAll();
  const { indexed, mp4, streams } = await indexTracks(context, job, source, tracks);
  if (
    indexed === undefined ||
    indexed.kind === 'refused' ||
    (plan.video !== undefined && indexed.video === undefined)
  ) {
    context.log.info('source-not-passed-through', {
      videoId: job.subjectId,
      reason: indexed?.kind === 'refused' ? indexed.reason : indexed?.videoReason,
    });
    return encodeAll();
  }
  const video = tracks.video === undefined ? undefined : indexed.video;
  const audio = tracks.audio === undefined ? undefined : indexed.audio;
  const moreAudio = Object.fromEntries(
    Object.entries(indexed.moreAudio ?? {}).map(([name, rendition]) => {
      const stream = streams.find(one => one.name === name)?.index;
      return [name, { ...rendition, stream }];
    }),
  );
  const passedNames = new Set([...(audio === undefined ? [] : ['audio']), ...Object.keys(moreAudio)]);
  // Encodes late video without earlier audio: it would begin at once, and play before the encoded audio.
  if (video !== undefined && isLateWithout(probed, plan, passedNames)) return encodeAll();
  if (exceedsMaxDuration([video, audio, ...Object.values(moreAudio)], request)) return encodeAll();
  if ((video?.frameRate ?? 0) > maxFramesPerSecond) return encodeAll();
  const isComplete = plan.audioRenditions.every(
    ({ name, isSurround }) => isSurround || passedNames.has(name),
  );
  return {
    plan: planUsableSource(probed, { ...request, canPassthroughAudio: audio !== undefined }),
    video,
    audio,
    moreAudio,
    mp4: isComplete && video !== undefined ? mp4 : undefined,
  };
}

async function indexTracks(
  context: VodContext,
  job: RunningJob,
  source: Source,
  tracks: TrackIndexes,
): Promise<{
  readonly indexed: IndexProgressiveResult | undefined;
  readonly mp4: string | undefined;
  readonly streams: readonly MoreAudio[];
}> {
  const { indexWorkers } = context;
  const { path, folder, probed, plan } = source;
  const { more: moreAudio } = tracks;
  const common = { folder, language: plan.audio?.language, signal: job.signal };
  const indexed = isMp4(probed)
    ? await source.parse(() =>
        indexWorkers.index(path, { ...common, mediaName: '../source', tracks, moreAudio }),
      )
    : undefined;
  if (hasAll(indexed, tracks) || (isMp4(probed) && !(await isCopyable(path)))) {
    return { indexed, mp4: undefined, streams: moreAudio };
  }
  const mp4 = await remux(context, job, source, tracks);
  if (mp4 === undefined) return { indexed, mp4, streams: moreAudio };
  const inMp4 = remuxedTrackIndexes(tracks);
  const remuxed = await indexWorkers.index(join(folder, mp4), {
    ...common,
    ...inMp4,
    ignoresEditEnds: true,
  });
  return { indexed: remuxed, mp4, streams: inMp4.moreAudio };
}

/**
 * Tells whether a file can be copied. Only fragments are a reason to copy an MP4 file. Reasons against a track
 * would be lost in it, and it would play wrongly.
 */
async function isCopyable(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    return await isCopyableFragmentedFile(readerOf(handle), (await handle.stat()).size);
  } finally {
    await handle.close();
  }
}

/** The returned function stores finished tracks and enqueues the remaining work. */
export async function planPassthrough(
  context: VodContext,
  videoId: string,
  { plan, video, audio, moreAudio, mp4: remuxed }: Passthrough,
  folder: { readonly generation: number; readonly name: string },
): Promise<(transaction: Transaction) => Promise<void>> {
  const { records } = context;
  const targetSeconds =
    video === undefined && audio === undefined
      ? undefined
      : targetDurationOf([video, audio, ...Object.values(moreAudio)]);
  const recordFor = async (rendition: IndexedRendition): Promise<RenditionRecord> =>
    recordOf(await context.reader.open(rendition.file), folder.generation, targetSeconds!);
  const finished: FinishedRendition[] = [];
  const qualities =
    plan.video === undefined ? [] : ladderOf(plan.video.displayResolution).map(({ name }) => name);
  const top = qualities.at(-1);
  if (video !== undefined && top !== undefined) {
    const file = `${folder.name}/video.index`;
    finished.push({ type: 'hls', quality: top, file, renditionMetadata: await recordFor(video) });
  }
  if (audio !== undefined) {
    const file = `${folder.name}/audio.index`;
    finished.push({ type: 'audio', quality: 'audio', file, renditionMetadata: await recordFor(audio) });
  }
  for (const [name, rendition] of Object.entries(moreAudio)) {
    const file = `${folder.name}/${name}.index`;
    const renditionMetadata = { ...(await recordFor(rendition)), stream: rendition.stream };
    finished.push({ type: 'audio', quality: name, file, renditionMetadata });
  }
  const measured = finished.map(({ renditionMetadata }) => renditionMetadata as RenditionRecord);
  return async transaction => {
    await records.lockPlan(videoId, transaction);
    // The owner's settings may have changed meanwhile.
    const request = await records.request(videoId, transaction);
    const known = (await records.state(videoId, transaction))?.audioTracks ?? [];
    const hasMp4 = top !== undefined && request?.mp4Support === true;
    const mp4: RenditionName | undefined = hasMp4 ? { type: 'mp4', quality: top } : undefined;
    const isMp4Ready = remuxed !== undefined && mp4 !== undefined;
    const ready = isMp4Ready
      ? [...finished, { ...mp4, file: `${folder.name}/${remuxed}`, renditionMetadata: {} }]
      : finished;
    const planned: RenditionName[] = [
      ...qualities.map(quality => ({ type: 'hls', quality }) as const),
      ...plan.audioRenditions.map(({ name }) => ({ type: 'audio', quality: name }) as const),
      ...(mp4 === undefined ? [] : [mp4]),
    ];
    await records.setPlan(videoId, measuredMetadata(plan, measured), planned, transaction);
    await records.setAudioTracks(videoId, initialAudioTracks(plan, known), transaction);
    if (ready.length > 0) await records.markFinished(videoId, ready, targetSeconds, transaction);
    if (plan.subtitles.some(({ kind }) => kind === 'captions')) {
      await enqueueVodJob(context, 'captions', videoId, transaction);
    }
    await enqueueRequestedCaptions(context, videoId, transaction);
    const isAudioDone = plan.audioRenditions.every(({ name }) =>
      finished.some(({ quality }) => quality === name),
    );
    if (qualities.length > (video === undefined ? 0 : 1) || !isAudioDone) {
      const isPlayable = video !== undefined && isAudioDone;
      const priority = encodePriorityOf(plan.durationSeconds, isPlayable);
      await enqueueVodJob(context, 'encode', videoId, transaction, priority);
    } else {
      const stored = await records.state(videoId, transaction);
      if (stored !== undefined) await planCodecs(context, videoId, stored, transaction);
    }
    if (plan.video !== undefined) await enqueueVodJob(context, 'stills', videoId, transaction);
    // Made of the highest quality, so it need not wait for lower ones.
    if (video !== undefined && isAudioDone && mp4 !== undefined && !isMp4Ready) {
      await enqueueVodJob(context, 'mp4', videoId, transaction);
    }
  };
}

/** @param known labels that are not those of the source, in the order of menus */
function initialAudioTracks({ audioTracks }: PlannedSource, known: readonly AudioTrack[]): AudioTrack[] {
  const found = audioTracks.map(
    ({ language, isDescription, ...track }): AudioTrack => ({
      ...track,
      language: language && canonicalLanguageTag(language),
      isDefault: track.track === 1,
      ...(isDescription ? { isDescription } : {}),
    }),
  );
  const ofKnown = known.flatMap(label => {
    const same = found.find(({ track }) => track === label.track);
    return same === undefined ? [] : [{ ...same, ...label }];
  });
  return [...ofKnown, ...found.filter(({ track }) => !ofKnown.some(one => one.track === track))];
}

export function isMp4({ format }: ProbedFile): boolean {
  return format.split(',').includes('mp4');
}

/** True when audio that is encoded begins before everything that is passed through. */
function isLateWithout(
  { streams }: ProbedFile,
  { video, audioRenditions }: PlannedSource,
  passedNames: ReadonlySet<string>,
): boolean {
  const startOf = (index: number | undefined) =>
    streams.find(stream => stream.index === index)?.startSeconds ?? 0;
  const startsOf = (plans: PlannedSource['audioRenditions']) => plans.map(({ index }) => startOf(index));
  const passed = [
    startOf(video?.index),
    ...startsOf(audioRenditions.filter(({ name }) => passedNames.has(name))),
  ];
  const encoded = startsOf(audioRenditions.filter(({ name }) => !passedNames.has(name)));
  return Math.min(...passed) - Math.min(...encoded) > maxUnnoticedOffsetSeconds;
}

function hasAll(indexed: IndexProgressiveResult | undefined, tracks: TrackIndexes): boolean {
  return (
    indexed?.kind === 'indexed' &&
    (tracks.video === undefined || indexed.video !== undefined) &&
    (tracks.audio === undefined || indexed.audio !== undefined)
  );
}

function remuxedTrackIndexes({ video, audio, more }: TrackIndexes) {
  let next = 0;
  const tracks = {
    video: video === undefined ? undefined : next++,
    audio: audio === undefined ? undefined : next++,
  };
  return { tracks, moreAudio: more.map(one => ({ ...one, index: next++ })) };
}

function remuxedAudio({ audioRenditions, audioTracks }: PlannedSource, { audio, more }: TrackIndexes) {
  const indexes = [audio, ...more.map(({ index }) => index)];
  return audioRenditions
    .filter(({ index, isPassthrough }) => isPassthrough && indexes.includes(index))
    .map(({ index, track, language }) => ({
      index,
      language: language && canonicalLanguageTag(language),
      title: audioTracks.find(one => one.track === track)?.name,
    }));
}

async function remux(
  context: VodContext,
  job: RunningJob,
  { path, folder, probed, plan }: Source,
  tracks: TrackIndexes,
): Promise<string | undefined> {
  await context.files.ensureFreeSpace(2 * probed.bytes, context.settings.minFreeBytes);
  const unfinished = join(folder, `unfinished-${remuxedFileName}`);
  try {
    await context.tools.runCommand(
      remuxCommand({
        source: path,
        clock: plan.clock,
        videoIndex: tracks.video,
        audio: remuxedAudio(plan, tracks),
        timedBy: timingIndexes(plan),
        output: unfinished,
      }),
      {
        limits: runLimitsFor(context, plan.durationSeconds, 2 * probed.bytes + 64 * 1024 ** 2),
        signal: job.signal,
        purpose: 'remux',
        ids: { videoId: job.subjectId },
      },
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'process-failed') return undefined;
    throw error;
  }
  await rename(unfinished, join(folder, remuxedFileName));
  return remuxedFileName;
}
