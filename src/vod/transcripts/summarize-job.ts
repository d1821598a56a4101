import { readFile } from 'node:fs/promises';
import type { NewJob, RunningJob } from '../../jobs/job.ts';
import { plainCueText } from '../../media/webvtt/cue-text.ts';
import { type CueLine, LineReader, linesOf } from '../../media/webvtt/line-reader.ts';
import { AppError } from '../../shared/errors.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import type { Transaction } from '../../store/connection.ts';
import type { VodContext } from '../vod-context.ts';
import { refused } from './model-endpoint.ts';

const maxSliceMs = 5;
const maxCueChars = 10_000;
const noText = 'The captions have no text.';
const unknownFailure = 'The summary could not be generated. Try again.';

/** Summarizes the captions of a video. */
export async function summarizeVideo(context: VodContext, job: RunningJob): Promise<void> {
  const { records, transcripts, summarizer, files } = context;
  const videoId = job.subjectId;
  const waiting = await transcripts.waitingSummary(videoId);
  if (waiting === undefined) return;
  if (summarizer === undefined) throw refused('Generated summaries are turned off on this server.');
  const file = await transcripts.captionsFile(videoId);
  const text =
    file === undefined
      ? ''
      : await files.storage.withLocal(
          files.video(videoId, file),
          async path =>
            spokenText(await readFile(path, 'utf8'), await TimeSlice.begin(maxSliceMs, job.signal)),
          job.signal,
        );
  const summary = text === '' ? undefined : await summarizer.summarize(text, job.signal);
  await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    if (summary === undefined) {
      return transcripts.failSummary(videoId, { status: 'unprocessable', reason: noText }, transaction);
    }
    const { abstract, takeaways } = summary;
    const wants = (attribute: 'abstract' | 'takeaways') => waiting.attributes.includes(attribute);
    await transcripts.completeSummary(
      videoId,
      { ...(wants('abstract') ? { abstract } : {}), ...(wants('takeaways') ? { takeaways } : {}) },
      transaction,
    );
  });
}

/** Runs in the transaction that marks the job as failed. */
export async function failSummary(
  { transcripts, log }: VodContext,
  { subjectId: videoId }: NewJob,
  error: unknown,
  transaction: Transaction,
): Promise<void> {
  const reason = (error instanceof AppError ? error.details.detail : undefined) ?? unknownFailure;
  transaction.afterCommit(() => log.warn('summary-failed', { videoId, reason, error }));
  await transcripts.failSummary(videoId, { status: 'failed', reason }, transaction);
}

/** The text of the cues, without their times and tags. Very long cues are cut. */
export async function spokenText(webVtt: string, slice: TimeSlice): Promise<string> {
  const texts: string[] = [];
  let cue = '';
  const reader = new LineReader();
  const add = ({ kind, line }: CueLine) => {
    if (kind === 'text' && cue.length < maxCueChars) cue += `\n${line.slice(0, maxCueChars)}`;
    if (kind !== 'end' || cue === '') return;
    texts.push(plainCueText(cue).trim());
    cue = '';
  };
  for (const line of linesOf(webVtt)) {
    reader.read(line).forEach(add);
    await slice.yieldIfOver();
  }
  reader.end().forEach(add);
  return texts.join('\n').trim();
}
