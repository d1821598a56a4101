import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { captionsCommand } from '../../ffmpeg/arguments/captions-command.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { ConvertedCueCutter } from '../../media/webvtt/cue-cutter.ts';
import { TextTrackReader } from '../../media/webvtt/text-track-reader.ts';
import { AppError } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import { maxTextTrackBytes } from '../../shared/limits/resource-limits.ts';
import { probeSource } from '../source/probe-source.ts';
import { type PlannedSource, planUsableSource, timingIndexes } from '../source/source-plan.ts';
import { sourceRequestOf } from '../source/source-request.ts';
import { withSource } from '../source/with-source.ts';
import type { VodContext } from '../vod-context.ts';
import type { SubtitlePlan } from './subtitle-plan.ts';
import { writeCues } from './write-cues.ts';

type Wanted = Extract<SubtitlePlan, { readonly kind: 'captions' }>;

interface CaptionsFile {
  readonly language: string;
  readonly path: string;
  readonly bytes: number;
}

interface Extraction {
  readonly source: string;
  readonly folder: string;
  readonly wanted: readonly Wanted[];
  /** Indexes of tracks in SubRip. */
  readonly copied: ReadonlySet<number>;
}

const subRipCodecs: ReadonlySet<string> = new Set(['subrip', 'srt', 'text']);
/** Reads the source once, without decoding video or audio. */
const minBytesPerMs = 5_000;
const minuteMs = 60_000;
/** Converted without yielding to the event loop. */
const chunkBytes = 4 * 1024;

/** Stores the text subtitles of the source as captions, once: those that the owner deletes do not return. */
export async function extractCaptions(context: VodContext, job: RunningJob): Promise<void> {
  const { records, files, settings } = context;
  const videoId = job.subjectId;
  const request = await records.request(videoId);
  const state = await records.state(videoId);
  if (request === undefined || state === undefined || state.hasSourceCaptions) return;
  await withSource(
    context,
    videoId,
    async source => {
      const probed = await probeSource(context, source, job.signal);
      const plan = planUsableSource(probed, sourceRequestOf(request, settings.sandboxVideoMs));
      const wanted = plan.subtitles.filter(subtitle => subtitle.kind === 'captions');
      const starts = timingIndexes(plan).flatMap(
        index => probed.streams.find(stream => stream.index === index)?.startSeconds ?? [],
      );
      const subRip = probed.streams.filter(({ codec }) => subRipCodecs.has(codec));
      const copied = new Set(subRip.map(({ index }) => index));
      await files.inWorkFolder(async folder => {
        const extracted = await extract(context, job, { source, folder, wanted, copied }, probed.bytes);
        const cut = await cutAll(
          { folder, wanted: extracted, copied },
          plan,
          starts.length === 0 ? 0 : Math.min(...starts),
          job.signal,
        );
        await store(context, job, cut);
      });
    },
    job.signal,
  );
}

/** Extracts all tracks at once, or else each alone: one damaged track fails the whole run. */
async function extract(
  context: VodContext,
  job: RunningJob,
  extraction: Extraction,
  sourceBytes: number,
): Promise<readonly Wanted[]> {
  const { wanted } = extraction;
  const run = (tracks: readonly Wanted[]) =>
    context.tools.runCommand(captionsCommand({ ...extraction, indexes: tracks.map(({ index }) => index) }), {
      limits: {
        timeoutMs: 10 * minuteMs + sourceBytes / minBytesPerMs,
        memoryBytes: context.settings.memoryBytes,
        outputBytes: maxTextTrackBytes,
      },
      signal: job.signal,
      purpose: 'captions',
      ids: { videoId: job.subjectId },
      isPausable: true,
    });
  if (wanted.length === 0) return [];
  try {
    await run(wanted);
    return wanted;
  } catch (error) {
    if (!isUnreadable(error) || wanted.length === 1) return ignoreUnreadable(context, job, error);
  }
  const readable: Wanted[] = [];
  for (const track of wanted) {
    try {
      await run([track]);
      readable.push(track);
    } catch (error) {
      ignoreUnreadable(context, job, error);
    }
  }
  return readable;
}

function isUnreadable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'process-failed';
}

function ignoreUnreadable({ log }: VodContext, job: RunningJob, error: unknown): [] {
  if (!isUnreadable(error)) throw error;
  log.info('subtitles-not-readable', { videoId: job.subjectId, error });
  return [];
}

/** Cuts the captions of all tracks. Tracks without a cue in the video are left out. */
async function cutAll(
  { folder, wanted, copied }: Omit<Extraction, 'source'>,
  { part }: PlannedSource,
  originSeconds: number,
  signal: AbortSignal,
): Promise<CaptionsFile[]> {
  const range = {
    startMs: Math.round(1000 * (originSeconds + (part?.startSeconds ?? 0))),
    durationMs: Math.round(1000 * (part?.durationSeconds ?? Number.POSITIVE_INFINITY)),
  };
  const cut: CaptionsFile[] = [];
  for (const { index, language } of wanted) {
    const path = join(folder, `cut-${index}.vtt`);
    const isSubRip = copied.has(index);
    await using input = await open(join(folder, `${index}.${isSubRip ? 'srt' : 'vtt'}`));
    await using output = await open(path, 'wx');
    const lines = isSubRip ? subRipLines(input, language) : input.readLines();
    const hasCues = await writeCues(lines, new ConvertedCueCutter(range), output, signal);
    const { size: bytes } = await stat(path);
    if (hasCues && bytes <= maxTextTrackBytes) cut.push({ language, path, bytes });
  }
  return cut;
}

async function* subRipLines(input: FileHandle, language: string): AsyncGenerator<string> {
  let reader: TextTrackReader | undefined;
  const chunks: AsyncIterable<Buffer> = input.createReadStream({ highWaterMark: chunkBytes });
  for await (const chunk of chunks) {
    reader ??= new TextTrackReader(chunk, language);
    yield* reader.read(chunk).split('\n');
  }
  yield* reader?.end()?.split('\n') ?? [];
}

/** Files are written before their rows. The next sweep removes those of an interrupted job. */
async function store(
  { records, captions, files }: VodContext,
  job: RunningJob,
  cut: readonly CaptionsFile[],
): Promise<void> {
  const videoId = job.subjectId;
  const published: { readonly language: string; readonly file: string; readonly bytes: number }[] = [];
  for (const { language, path, bytes } of cut) {
    const file = `captions-${language}-${newUuid()}.vtt`;
    await files.publish(path, files.video(videoId, file), job.signal);
    published.push({ language, file, bytes });
  }
  const unused = await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    await records.markCaptionsStored(videoId, transaction);
    const unnamed: string[] = [];
    for (const track of published) {
      const file = await captions.add({ videoId, ...track }, transaction);
      if (file !== undefined) unnamed.push(file);
    }
    return unnamed;
  });
  for (const file of unused) await files.storage.remove(files.video(videoId, file));
}
