import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewJob, RunningJob } from '../../jobs/job.ts';
import { escapeCueText } from '../../media/webvtt/cue-text.ts';
import { formatCues } from '../../media/webvtt/cues.ts';
import { AppError } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import type { Transaction } from '../../store/connection.ts';
import type { EncodingRequest } from '../encoding-repository.ts';
import { probeSource } from '../source/probe-source.ts';
import { type PlannedSource, planUsableSource, timingIndexes } from '../source/source-plan.ts';
import { sourceRequestOf } from '../source/source-request.ts';
import { withSource } from '../source/with-source.ts';
import { enqueueVodJob, type VodContext } from '../vod-context.ts';
import { refused } from './model-endpoint.ts';
import { readSpeechChunk, type SpeechSource } from './speech-chunk.ts';
import { spokenLanguage } from './spoken-language.ts';
import { cuesOf } from './transcript-cues.ts';
import type { TranscriptPart } from './transcript-repository.ts';
import type { SpokenSegment, TranscriptionClient } from './transcription-client.ts';

const maxSliceMs = 5;
const unknownFailure = 'The captions could not be generated. Try again.';

/** Continues after the last part that an earlier attempt has transcribed. */
export async function transcribeVideo(context: VodContext, job: RunningJob): Promise<void> {
  const { records, transcripts, transcriber, settings } = context;
  const videoId = job.subjectId;
  const request = await records.request(videoId);
  const state = await transcripts.state(videoId);
  if (request === undefined || (state?.status !== 'waiting' && state?.status !== 'processing')) return;
  if (transcriber === undefined) throw refused('Automatic captions are turned off on this server.');
  await requireNoCaptions(context, videoId, request.language);
  await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    await transcripts.markStarted(videoId, transaction);
  });
  await withSource(
    context,
    videoId,
    async path => {
      const probed = await probeSource(context, path, job.signal);
      const plan = planUsableSource(probed, sourceRequestOf(request, settings.sandboxVideoMs));
      const audio = plan.audio ?? noAudio();
      const source: SpeechSource = {
        path,
        index: audio.index,
        rightIndex: audio.rightIndex,
        timedBy: timingIndexes(plan),
        clock: plan.clock,
        startSeconds: plan.part?.startSeconds ?? 0,
      };
      const parts = await transcribeParts({ context, job, request, transcriber }, plan, source);
      await storeCaptions(context, job, parts, request.language, audio.language);
    },
    job.signal,
  );
}

/** Runs in the transaction that marks the job as failed. */
export async function failTranscript(
  context: VodContext,
  { subjectId: videoId }: NewJob,
  error: unknown,
  transaction: Transaction,
): Promise<void> {
  const { transcripts, log } = context;
  const reason = (error instanceof AppError ? error.details.detail : undefined) ?? unknownFailure;
  transaction.afterCommit(() => log.warn('transcript-failed', { videoId, reason, error }));
  await transcripts.fail(videoId, reason, transaction);
  if ((await transcripts.waitingSummary(videoId, transaction)) === undefined) return;
  if ((await transcripts.captionsFile(videoId, transaction)) === undefined) {
    await transcripts.failSummary(videoId, { status: 'unprocessable', reason }, transaction);
  } else await enqueueVodJob(context, 'summarize', videoId, transaction);
}

interface Transcribing {
  readonly context: VodContext;
  readonly job: RunningJob;
  readonly request: EncodingRequest;
  readonly transcriber: TranscriptionClient;
}

async function transcribeParts(
  { context, job, request, transcriber }: Transcribing,
  { durationSeconds }: PlannedSource,
  source: SpeechSource,
): Promise<TranscriptPart[]> {
  const { transcripts, records, files } = context;
  const videoId = job.subjectId;
  // A file that does not tell its duration ends where its audio ends.
  const totalMs = durationSeconds > 0 ? Math.round(1000 * durationSeconds) : Number.POSITIVE_INFINITY;
  const parts = await transcripts.parts(videoId);
  await files.inWorkFolder(async folder => {
    for (;;) {
      const startMs = parts.at(-1)?.endMs ?? 0;
      const maxMs = Math.min(transcriber.maxChunkMs, totalMs - startMs);
      if (maxMs <= 0) return;
      const chunk = await readSpeechChunk(context, job, source, {
        startMs,
        maxMs,
        folder,
        isLast: maxMs < transcriber.maxChunkMs,
      });
      if (chunk === undefined) return;
      const durationMs = chunk.endMs - startMs;
      const { language, segments } = await transcriber.transcribe(chunk.flac, {
        // The first part decides, so that the others are not taken for another language.
        language: primaryOf(request.language ?? languageOf(parts)),
        durationMs,
        signal: job.signal,
      });
      const part = {
        startMs,
        endMs: chunk.endMs,
        language,
        segments: segments.map(segment => shifted(segment, startMs)),
      };
      parts.push(part);
      const percent = Math.min(99, Math.floor((100 * part.endMs) / totalMs));
      await records.transaction(async transaction => {
        await job.ensureOwned(transaction);
        await transcripts.addPart(videoId, part, percent, transaction);
      });
      job.reportProgress(percent);
      await requireNoCaptions(context, videoId, request.language ?? languageOf(parts));
    }
  });
  return parts;
}

async function storeCaptions(
  context: VodContext,
  job: RunningJob,
  parts: readonly TranscriptPart[],
  givenLanguage: string | undefined,
  trackLanguage: string | undefined,
): Promise<void> {
  const { transcripts, records, files } = context;
  const videoId = job.subjectId;
  const segments = parts.flatMap(part => part.segments);
  const cues = await cuesOf(segments, await TimeSlice.begin(maxSliceMs, job.signal));
  if (cues.length === 0) throw refused('No speech was found in the audio.');
  const language = givenLanguage ?? languageOf(parts) ?? spokenLanguage(trackLanguage ?? '');
  if (language === undefined) {
    throw refused('The model did not detect the language. Set the language of the video and try again.');
  }
  const text = formatCues(cues.map(cue => ({ ...cue, text: escapeCueText(cue.text) })));
  const file = `captions-${language}-${newUuid()}.vtt`;
  await files.inWorkFolder(async folder => {
    const path = join(folder, file);
    await writeFile(path, text);
    await files.publish(path, files.video(videoId, file), job.signal);
  });
  const { isStored, unusedFile } = await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    const captions = {
      language,
      file,
      bytes: Buffer.byteLength(text),
      isDetected: givenLanguage === undefined,
    };
    const outcome = await transcripts.complete(videoId, captions, transaction);
    const waiting = outcome.isStored ? await transcripts.waitingSummary(videoId, transaction) : undefined;
    if (waiting !== undefined) await enqueueVodJob(context, 'summarize', videoId, transaction);
    return outcome;
  });
  if (unusedFile !== undefined) await files.storage.remove(files.video(videoId, unusedFile));
  if (!isStored) throw ownCaptions(language);
}

/** @throws AppError `model-refused` */
async function requireNoCaptions(
  { transcripts }: VodContext,
  videoId: string,
  language: string | undefined,
): Promise<void> {
  if (language === undefined || !(await transcripts.hasOwnCaptions(videoId, language))) return;
  throw ownCaptions(language);
}

function ownCaptions(language: string): AppError {
  return refused(
    `The video has captions in this language (${language}) that were not generated. Delete them to generate others.`,
  );
}

function noAudio(): never {
  throw refused('The video has no audio.');
}

function languageOf(parts: readonly TranscriptPart[]): string | undefined {
  const named = parts.find(({ language, segments }) => language !== undefined && segments.length > 0);
  return named?.language === undefined ? undefined : spokenLanguage(named.language);
}

/** Models know languages by ISO 639-1. */
function primaryOf(language: string | undefined): string | undefined {
  return language?.split('-')[0];
}

function shifted({ startMs, endMs, text, words }: SpokenSegment, byMs: number): SpokenSegment {
  const move = (startMs: number, endMs: number) => ({ startMs: startMs + byMs, endMs: endMs + byMs });
  return {
    text,
    ...move(startMs, endMs),
    words: words.map(word => ({ text: word.text, ...move(word.startMs, word.endMs) })),
  };
}
