import { attributeError } from '../../../../http/routing/validation.ts';
import type { AppError } from '../../../../shared/errors.ts';
import type { Connection, Transaction } from '../../../../store/connection.ts';
import type { SummariesStore } from '../../summaries/summaries.store.ts';
import { newSummary, summaryExistsError } from '../../summaries/summary.ts';
import type { VideoDefaultsStore } from '../../video-defaults/video-defaults.store.ts';
import type { TextRequest } from '../video.ts';
import type { TranscriptsStore } from './transcripts.store.ts';

/** Models of this server, and the jobs that use them. */
export interface ModelJobs {
  readonly canTranscribe: boolean;
  readonly canSummarize: boolean;
  /** Starts when the source is prepared. */
  transcribe(videoId: string, transaction: Transaction): Promise<void>;
  summarize(videoId: string, transaction: Transaction): Promise<void>;
  /** Ends what waits or runs. */
  withdraw(kind: 'transcribe' | 'summarize', videoId: string, transaction: Transaction): Promise<void>;
}

interface CaptionGenerationOptions {
  readonly generation: ModelJobs;
  readonly transcripts: TranscriptsStore;
  readonly summaries: SummariesStore;
  readonly defaults: VideoDefaultsStore;
}

export class CaptionGeneration {
  readonly #options: CaptionGenerationOptions;

  constructor(options: CaptionGenerationOptions) {
    this.#options = options;
  }

  get available(): Record<'transcript' | 'transcriptSummary', boolean> {
    const { canTranscribe, canSummarize } = this.#options.generation;
    return { transcript: canTranscribe, transcriptSummary: canSummarize };
  }

  /** Adds the defaults of the project to what was requested for a new video, as far as this server can generate it. */
  async withDefaults(
    { projectId, isRecording }: { readonly projectId: string; readonly isRecording: boolean },
    request: TextRequest,
    connection?: Connection,
  ): Promise<TextRequest> {
    const { available } = this;
    // A new video has no captions to summarize.
    if (!available.transcript) return request;
    const defaults = await this.#options.defaults.find(projectId, connection);
    if (isRecording && !defaults.recordings) return request;
    const { transcript = defaults.transcript } = request;
    // A summary would generate the captions that somebody does not want.
    const isSummarized =
      available.transcriptSummary && defaults.transcriptSummary && request.transcript !== false;
    return { ...request, transcript, transcriptSummary: request.transcriptSummary ?? isSummarized };
  }

  /** @throws AppError `invalid-attribute` for what is turned off */
  check({ transcript, transcriptSummary }: Pick<TextRequest, 'transcript' | 'transcriptSummary'>): void {
    const { available } = this;
    if (transcript === true && !available.transcript) throw unavailableError('transcript', 'Transcripts');
    if (transcriptSummary === true && !available.transcriptSummary) {
      throw unavailableError('transcriptSummary', 'Generated summaries');
    }
  }

  /** @throws AppError `summary-already-exists` */
  async request(
    video: { readonly projectId: string; readonly videoId: string },
    request: TextRequest,
    atMs: number,
    transaction: Transaction,
  ): Promise<void> {
    if (request.transcript === true) await this.#transcribe(video.videoId, transaction);
    if (request.transcript === false) await this.#withdraw(video.videoId, transaction);
    if (request.transcriptSummary !== true) return;
    const attributes = request.transcriptSummaryAttributes;
    const summary = newSummary({ ...video, origin: 'auto', attributes, atMs });
    if (!(await this.#options.summaries.add(summary, transaction))) {
      throw summaryExistsError('transcriptSummary');
    }
    await this.summarize(video.videoId, transaction);
  }

  /** Summarizes the captions of the video, or those that are generated first. The summary waits already. */
  async summarize(videoId: string, transaction: Transaction): Promise<void> {
    const { generation, transcripts } = this.#options;
    const status = (await transcripts.state(videoId, transaction))?.status;
    // The transcription starts the summary when it ends.
    if (status === 'waiting' || status === 'processing') return;
    const hasCaptions = (await transcripts.captionsFile(videoId, transaction)) !== undefined;
    if (!hasCaptions && generation.canTranscribe) return this.#transcribe(videoId, transaction);
    await this.#summarizeCaptions(videoId, transaction);
  }

  /** Summarizes the captions; without any, the summary fails. */
  async #summarizeCaptions(videoId: string, transaction: Transaction): Promise<void> {
    const { generation, transcripts } = this.#options;
    if ((await transcripts.captionsFile(videoId, transaction)) !== undefined) {
      return generation.summarize(videoId, transaction);
    }
    const reason = 'The video has no captions. Generate or upload some, and try again.';
    await transcripts.failSummary(videoId, { status: 'unprocessable', reason }, transaction);
  }

  async #withdraw(videoId: string, transaction: Transaction): Promise<void> {
    const { generation, transcripts } = this.#options;
    if (!(await transcripts.withdraw(videoId, transaction))) return;
    await generation.withdraw('transcribe', videoId, transaction);
    if ((await transcripts.waitingSummary(videoId, transaction)) === undefined) return;
    await this.#summarizeCaptions(videoId, transaction);
  }

  async #transcribe(videoId: string, transaction: Transaction): Promise<void> {
    const { generation, transcripts } = this.#options;
    if (await transcripts.request(videoId, transaction)) await generation.transcribe(videoId, transaction);
  }
}

function unavailableError(name: string, feature: string): AppError {
  return attributeError(name, `${feature} are not available on this server: they need a language model.`);
}
