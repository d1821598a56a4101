import { join } from 'node:path';
import { encodeCommand } from '../../ffmpeg/arguments/encode-command.ts';
import type { Overlay } from '../../ffmpeg/arguments/encode-options.ts';
import { measureCommand } from '../../ffmpeg/arguments/remux-commands.ts';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { RunningJob } from '../../jobs/job.ts';
import type { EncodingRequest, EncodingState, RenditionName } from '../encoding-repository.ts';
import { GrowingRendition } from '../index/growing-rendition.ts';
import { boundariesOf, type SegmentBoundaries } from '../index/segment-boundaries.ts';
import { type RenditionRecord, recordOf, targetDurationOf } from '../playback/rendition-record.ts';
import { measuredMetadata } from '../source/measured-metadata.ts';
import { type PlannedSource, planUsableSource, type SourceMetadata } from '../source/source-plan.ts';
import { partToRead, sourceRequestOf, watermarkOverlays } from '../source/source-request.ts';
import { enqueueVodJob, runLimitsFor, type VodContext } from '../vod-context.ts';
import { ladderOf, type Rung } from './ladder.ts';

/** What one video's encodes have in common. */
interface Encode {
  readonly videoId: string;
  readonly job: RunningJob;
  readonly order: EncodingRequest;
  readonly plan: PlannedSource;
  /** The part of the source that is read. */
  readonly part: PlannedSource['part'];
  readonly sourceBytes: number;
  readonly overlays: readonly Overlay[];
}

/** What one run of ffmpeg makes. */
interface Group {
  readonly rungs: readonly Rung[];
  readonly hasAudio: boolean;
}

/** Of a video that is shown while it grows: two GOPs make a segment, and a slow film's may last longer. */
const growingTargetSeconds = 6;
const pollMs = 200;
const progressEveryMs = 1000;
const audioBitsPerSecond = 128_000;
/** Progress is told in decode times, which are behind by the last frames. */
const measureToleranceSeconds = 0.2;

/**
 * Encodes what a video lacks: first the lowest rung, together with the sound where that must be encoded, so that viewers with a slow
 * network have something soon; then all other rungs, with one decode. While nothing of the video can be played yet, what is being
 * encoded is shown as it grows. What was finished before a crash is not done again.
 */
export async function encodeVideo(context: VodContext, job: RunningJob): Promise<void> {
  const { records, folders } = context;
  const videoId = job.subjectId;
  const order = records.request(videoId);
  const state = records.state(videoId);
  if (order === undefined || state === undefined) return;
  const stateOf = () => records.state(videoId);
  await folders.during(videoId, stateOf, () => encodeAll(context, job, order, state));
  const mp4 = records.state(videoId)?.renditions.find(({ type }) => type === 'mp4');
  if (mp4 !== undefined && mp4.status !== 'encoded' && !context.jobs.has('mp4', videoId)) {
    enqueueVodJob(context, 'mp4', videoId);
  }
  const now = records.state(videoId);
  // One may run just now, and not know it yet.
  if (now !== undefined && isStoryboardOutdated(state, now)) enqueueVodJob(context, 'stills', videoId);
}

/** The file did not say how long the video is, or said it wrong: its storyboard was to wait for that, or is of another length. */
function isStoryboardOutdated(before: EncodingState, now: EncodingState): boolean {
  const [planned, measured] = [before, now].map(({ facts }) => (facts as Partial<SourceMetadata>).duration);
  if (planned === null || planned === undefined) return !now.hasStoryboard;
  return Math.abs(planned - (measured ?? planned)) > 1;
}

async function encodeAll(
  context: VodContext,
  job: RunningJob,
  order: EncodingRequest,
  state: EncodingState,
): Promise<void> {
  const { tools, files } = context;
  const groups = groupsOf(state);
  if (groups.length > 0) {
    const probed = await tools.probe(files.source(job.subjectId), job.signal);
    const encode = await prepareEncode(context, job, order, probed);
    const ladder = encode.plan.video === undefined ? [] : ladderOf(encode.plan.video.displayResolution);
    const shares = groups.map(group => costOf(group.names, ladder));
    const all = shares.reduce((sum, share) => sum + share, 0);
    let done = 0;
    for (const [index, { names, hasAudio }] of groups.entries()) {
      const rungs = ladder.filter(({ name }) => names.includes(name));
      const before = done;
      await encodeGroup(context, encode, { rungs, hasAudio }, share =>
        job.reportProgress((100 * (before + share * shares[index]!)) / all),
      );
      done += shares[index]!;
    }
  }
}

/** What is left to encode, in the order of the runs. */
function groupsOf(state: EncodingState): { names: string[]; hasAudio: boolean }[] {
  const left = state.renditions.filter(({ status }) => status !== 'encoded');
  const rungs = left.filter(({ type }) => type === 'hls').map(({ quality }) => quality);
  const hasAudio = left.some(({ type }) => type === 'audio');
  const lowest = state.renditions.find(({ type }) => type === 'hls')?.quality;
  const first = rungs.filter(name => name === lowest);
  const rest = rungs.filter(name => name !== lowest);
  if (first.length === 0 && !hasAudio) return rest.length === 0 ? [] : [{ names: rest, hasAudio }];
  return [{ names: first, hasAudio }, ...(rest.length === 0 ? [] : [{ names: rest, hasAudio: false }])];
}

function costOf(names: readonly string[], ladder: readonly Rung[]): number {
  const pixels = ladder.filter(({ name }) => names.includes(name)).map(({ width, height }) => width * height);
  return pixels.reduce((sum, count) => sum + count, 10_000);
}

async function prepareEncode(
  context: VodContext,
  job: RunningJob,
  order: EncodingRequest,
  probed: ProbedFile,
): Promise<Encode> {
  const videoId = job.subjectId;
  const wishes = sourceRequestOf(order, context.settings.sandboxVideoMs);
  const plan = planUsableSource(probed, wishes);
  const { video } = plan;
  const overlays =
    video === undefined
      ? []
      : await watermarkOverlays(context, videoId, order, video.displayResolution, job.signal);
  const part = partToRead(plan.part, wishes);
  return { videoId, job, order, plan, part, sourceBytes: probed.bytes, overlays };
}

async function encodeGroup(
  context: VodContext,
  encode: Encode,
  group: Group,
  onProgress: (share: number) => void,
): Promise<void> {
  const { records, folders, clock, growing } = context;
  const { videoId, plan } = encode;
  const names = namesOf(group);
  const { durationSeconds } = plan;
  const bitsPerSecond = group.rungs.reduce((sum, rung) => sum + rung.bitsPerSecond, audioBitsPerSecond);
  await context.files.ensureFreeSpace((bitsPerSecond / 8) * durationSeconds, context.settings.minFreeBytes);
  const { generation, folder, name } = await folders.make(videoId, clock.nowMs());
  const before = records.state(videoId);
  const sources = await boundariesFor(context, videoId, before);
  const renditions = new Map<string, GrowingRendition>();
  for (const rung of group.rungs) {
    renditions.set(
      rung.name,
      new GrowingRendition({ path: join(folder, `${rung.name}.mp4`), boundaries: sources }),
    );
  }
  if (group.hasAudio) {
    const [firstVideo] = renditions.values();
    renditions.set(
      'audio',
      new GrowingRendition({
        path: join(folder, 'audio.mp4'),
        language: plan.audio?.language,
        boundaries: sources ?? firstVideo?.boundaries,
      }),
    );
  }
  records.markStarted(videoId, names);
  const isPlayable = before?.isPlayable === true;
  const stored = before?.targetDurationSeconds ?? 1;
  // What is shown while it grows keeps it: a playlist's target duration never changes.
  const target = isPlayable ? stored : Math.max(stored, growingTargetOf(plan));
  const hide = isPlayable
    ? () => {}
    : growing.show(videoId, { targetDurationSeconds: target, generation, renditions });
  let wasShown = isPlayable;
  const unreadable = new AbortController();
  const follower = follow([...renditions.values()], {
    onRound: () => {
      if (wasShown || growing.find(videoId) === undefined) return;
      wasShown = true;
      records.markChanged(videoId);
    },
    onFailure: error => unreadable.abort(error),
  });
  try {
    await runEncode(context, encode, group, {
      folder,
      boundaries: sources,
      signal: AbortSignal.any([encode.job.signal, unreadable.signal]),
      onProgress: share => {
        onProgress(share);
        records.updateProgress(videoId, names, 100 * share);
      },
    });
    await follower.stop();
    for (const rendition of renditions.values()) await rendition.finish();
    const grown = [...renditions.values()].map(({ facts }) => facts);
    const targetSeconds = Math.max(target, targetDurationOf(grown));
    const finished = [...renditions].map(([quality, rendition]) => ({
      type: quality === 'audio' ? ('audio' as const) : ('hls' as const),
      quality,
      file: `${name}/${quality}.mp4.index`,
      facts: recordOf(rendition, generation, targetSeconds),
    }));
    records.transaction(() => {
      records.markFinished(videoId, finished, targetSeconds);
      records.updateMetadata(videoId, measuredMetadata(plan, playableRecords(records.state(videoId))));
    });
  } finally {
    await follower.stop().catch(() => {});
    hide();
    for (const rendition of renditions.values()) await rendition.close();
  }
}

function playableRecords(state: EncodingState | undefined): RenditionRecord[] {
  const encoded =
    state?.renditions.filter(({ type, status }) => type !== 'mp4' && status === 'encoded') ?? [];
  return encoded.map(({ facts }) => facts as RenditionRecord);
}

/** Whole seconds that no segment of a video will be longer than: those of few frames a second end with a frame that is shown for long. */
function growingTargetOf({ video }: PlannedSource): number {
  const rate = video?.framesPerSecond ?? 0;
  if (rate === 0) return growingTargetSeconds;
  const gopSeconds = Math.ceil(2 * rate - 0.001) / rate;
  const segmentSeconds = Math.ceil(4 / gopSeconds - 0.001) * gopSeconds;
  return Math.max(growingTargetSeconds, Math.ceil(segmentSeconds - 0.001));
}

async function runEncode(
  context: VodContext,
  encode: Encode,
  group: Group,
  run: {
    readonly folder: string;
    readonly boundaries: SegmentBoundaries | undefined;
    readonly signal: AbortSignal;
    readonly onProgress: (share: number) => void;
  },
): Promise<void> {
  const { videoId, plan, part, sourceBytes, overlays } = encode;
  const { folder, boundaries, signal, onProgress } = run;
  const { durationSeconds, video, audio } = plan;
  const command = encodeCommand({
    source: context.files.source(videoId),
    folder,
    video:
      video === undefined || group.rungs.length === 0
        ? undefined
        : {
            ...video,
            ...video.displayResolution,
            renditions: group.rungs,
            keyframesAtSeconds: boundaries === undefined ? 'every-two' : keyframesAt(boundaries),
            overlays,
          },
    audioIndex: group.hasAudio ? audio?.index : undefined,
    audioChannels: audio?.channels,
    audioUntilSeconds: group.hasAudio ? await audioEndOf(context, encode, run) : undefined,
    timedBy: [video?.index, audio?.index].filter(index => index !== undefined),
    clip: part,
    preset: context.settings.preset,
    threads: context.settings.threads,
  });
  // Twice what the ladder allows, and room for a film that is longer than its file says, or whose length nobody knows.
  const highest = Math.max(audioBitsPerSecond, ...group.rungs.map(({ bitsPerSecond }) => bitsPerSecond));
  const outputBytes =
    durationSeconds === 0
      ? 10e9
      : Math.max((highest / 4) * durationSeconds, 4 * sourceBytes) + 64 * 1024 ** 2;
  let toldAtMs = 0;
  await context.tools.runCommand(command, {
    limits: runLimitsFor(context, durationSeconds, outputBytes),
    signal,
    purpose: 'encode',
    ids: { videoId },
    isPausable: true,
    onProgress: ({ timeSeconds }) => {
      const nowMs = context.clock.monotonicMs();
      if (durationSeconds === 0 || nowMs - toldAtMs < progressEveryMs) return;
      toldAtMs = nowMs;
      onProgress(Math.min(0.99, Math.max(0, timeSeconds / durationSeconds)));
    },
  });
}

/**
 * Returns the time until which audio that ends before the video goes on in silence. The file's headers may claim that the video is hours
 * longer than it is, so the video itself is measured.
 */
async function audioEndOf(
  context: VodContext,
  { videoId, plan }: Encode,
  {
    boundaries,
    signal,
  }: { readonly boundaries: SegmentBoundaries | undefined; readonly signal: AbortSignal },
): Promise<number | undefined> {
  const { video, audio, durationSeconds } = plan;
  if (video === undefined || audio?.untilSeconds === undefined) return undefined;
  const videoEndSeconds = boundaries?.end()?.seconds;
  if (videoEndSeconds !== undefined) return Math.min(audio.untilSeconds, videoEndSeconds);
  let measuredSeconds = 0;
  await context.tools.runCommand(measureCommand(context.files.source(videoId), [video.index, audio.index]), {
    limits: runLimitsFor(context, durationSeconds, 1024 ** 2),
    signal,
    purpose: 'measure',
    ids: { videoId },
    isPausable: true,
    onProgress: ({ timeSeconds }) => {
      measuredSeconds = timeSeconds;
    },
  });
  return Math.min(audio.untilSeconds, measuredSeconds + measureToleranceSeconds);
}

/** Polls renditions that grow, one round after the other, and tells after each, or once that it cannot go on. */
function follow(
  renditions: readonly GrowingRendition[],
  { onRound, onFailure }: { onRound: () => void; onFailure: (error: unknown) => void },
): { stop(): Promise<void> } {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  let failure: unknown;
  const next = () => {
    timer = setTimeout(() => {
      round = Promise.all(renditions.map(rendition => rendition.poll()))
        .then(onRound)
        .catch((error: unknown) => {
          failure ??= error;
          isStopped = true;
          onFailure(error);
        })
        .finally(() => {
          if (!isStopped) next();
        });
    }, pollMs);
  };
  next();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await round;
      if (failure !== undefined) throw failure;
    },
  };
}

/** Where the segments of the finished picture begin, so that all rungs are cut at the same instants. */
async function boundariesFor(
  context: VodContext,
  videoId: string,
  state: EncodingState | undefined,
): Promise<SegmentBoundaries | undefined> {
  const finished = state?.renditions.findLast(({ type, status }) => type === 'hls' && status === 'encoded');
  if (finished?.file === undefined) return undefined;
  const { kind } = finished.facts as RenditionRecord;
  if (kind !== 'video') return undefined;
  return boundariesOf(await context.reader.open(context.files.video(videoId, finished.file)));
}

function keyframesAt(boundaries: SegmentBoundaries): number[] {
  const at: number[] = [];
  for (let index = 0; ; index++) {
    const seconds = boundaries.startSeconds(index);
    if (seconds === undefined) return at;
    at.push(seconds);
  }
}

function namesOf({ rungs, hasAudio }: Group): RenditionName[] {
  return [
    ...rungs.map(({ name }) => ({ type: 'hls', quality: name }) as const),
    ...(hasAudio ? [{ type: 'audio', quality: 'audio' } as const] : []),
  ];
}
