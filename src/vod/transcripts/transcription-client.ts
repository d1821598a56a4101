import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { askModel, type ModelEndpoint, refused } from './model-endpoint.ts';

export interface TimedText {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

/** Words are known of some models only. */
export interface SpokenSegment extends TimedText {
  readonly words: readonly TimedText[];
}

interface Transcription {
  /** Language as the model calls it, such as `en` or `english`. */
  readonly language: string | undefined;
  /** Sorted by start. */
  readonly segments: readonly SpokenSegment[];
}

/** Limits for ten minutes, more than anybody can say. */
const maxResponseBytes = 4 * 1024 ** 2;
const maxSegments = 5_000;
const maxWords = 20_000;
const maxTextChars = 20_000;

const seconds = z.number().min(-1_000_000).max(1_000_000);
const wordSchema = z.object({ word: z.string().max(maxTextChars), start: seconds, end: seconds });
const answerSchema = z.object({
  text: z.string().max(200_000).optional(),
  language: z.string().max(100).nullish(),
  segments: z
    .array(
      z.object({
        text: z.string().max(maxTextChars),
        start: seconds,
        end: seconds,
        words: z.array(wordSchema).max(maxWords).nullish(),
      }),
    )
    .max(maxSegments)
    .nullish(),
  words: z.array(wordSchema).max(maxWords).nullish(),
});

/**
 * Transcribes with an OpenAI-compatible API (`POST /audio/transcriptions`), as of OpenAI, whisper.cpp, speaches and LocalAI.
 * @throws AppError `model-refused`, which is final, or `model-unavailable`
 */
export class TranscriptionClient {
  readonly maxChunkMs: number;
  readonly #endpoint: ModelEndpoint;

  constructor(endpoint: ModelEndpoint, maxChunkMs: number) {
    this.#endpoint = endpoint;
    this.maxChunkMs = maxChunkMs;
  }

  /** @param language undefined lets the model detect it */
  async transcribe(
    flac: Buffer,
    {
      language,
      durationMs,
      signal,
    }: { language: string | undefined; durationMs: number; signal: AbortSignal },
  ): Promise<Transcription> {
    const boundary = `----millrace-${randomUUID()}`;
    const fields = [
      ['model', this.#endpoint.model],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ...(language === undefined ? [] : [['language', language]]),
    ];
    const head = fields
      .map(
        ([name, value]) =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      )
      .join('');
    const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="audio.flac"\r\nContent-Type: audio/flac\r\n\r\n`;
    const answer = await askModel(this.#endpoint, {
      path: '/audio/transcriptions',
      contentType: `multipart/form-data; boundary=${boundary}`,
      body: [Buffer.from(head + file), flac, Buffer.from(`\r\n--${boundary}--\r\n`)],
      maxResponseBytes,
      signal,
    });
    return readTranscription(answer, durationMs);
  }
}

/** Times outside of the audio are moved inside. @throws AppError `model-refused` for an answer in another form */
export function readTranscription(answer: unknown, durationMs: number): Transcription {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success)
    throw refused(
      'The model’s response isn’t a valid transcription. Check the URL and the model in the settings of this server.',
      parsed.error,
    );
  const { text = '', language, segments, words } = parsed.data;
  const allWords = (words ?? [])
    .map(one => timed(one.word, one, durationMs))
    .toSorted((one, other) => one.startMs - other.startMs);
  const whole = { text, start: 0, end: durationMs / 1000, words: undefined };
  const found = (segments ?? (text.trim() === '' ? [] : [whole]))
    .map(segment => ({ ...timed(segment.text, segment, durationMs), own: segment.words }))
    .filter(segment => segment.text !== '')
    .toSorted((one, other) => one.startMs - other.startMs);
  return {
    language: language ?? undefined,
    segments: found.map(({ own, ...segment }, index) => ({
      ...segment,
      words:
        own?.map(one => timed(one.word, one, durationMs)) ??
        // Assigns each word to one segment.
        wordsBetween(
          allWords,
          segment.startMs,
          Math.min(segment.endMs, found[index + 1]?.startMs ?? segment.endMs),
        ),
    })),
  };
}

/** @param words sorted by start */
function wordsBetween(words: readonly TimedText[], fromMs: number, toMs: number): readonly TimedText[] {
  return words.slice(firstFrom(words, fromMs), firstFrom(words, toMs));
}

function firstFrom(words: readonly TimedText[], ms: number): number {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (words[middle]!.startMs < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

function timed(text: string, { start, end }: { start: number; end: number }, durationMs: number): TimedText {
  const startMs = Math.min(durationMs, Math.max(0, Math.round(1000 * start)));
  const endMs = Math.min(durationMs, Math.max(startMs, Math.round(1000 * end)));
  return { startMs, endMs, text: text.replace(/[\s\p{Cc}]+/gu, ' ').trim() };
}
