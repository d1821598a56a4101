import { readFile, stat } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { type SlateFormat, type SlateInput, slateArguments } from '../../ffmpeg/arguments/slate-arguments.ts';
import { childLimitsOf } from '../../ffmpeg/process/bounded-run.ts';
import type { ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { readFlvTags } from '../../media/flv/flv-reader.ts';
import { readTagEvents } from '../../media/flv/tag-events.ts';
import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import type { CodecConfig, MediaEvent, MediaSample, TrackKind } from '../../media/samples/media-sample.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';

/** Repeated while the slate is shown. */
export interface SlateMedia {
  readonly shape: SlateFormat;
  readonly declared: DeclaredMedia | undefined;
  readonly videoConfig: CodecConfig;
  /** The first is a keyframe. */
  readonly frames: readonly MediaSample[];
  readonly audio:
    | { readonly config: CodecConfig; readonly silence: MediaSample; readonly frameMs: number }
    | undefined;
}

export interface SlateSource {
  /** False shows the configured image. */
  readonly showsLastFrame: boolean;
  /** @param lastFrame an init section and fragments that begin with a keyframe @throws AppError or Error */
  make(
    format: SlateFormat,
    lastFrame: readonly Buffer[] | undefined,
    signal: AbortSignal,
  ): Promise<SlateMedia>;
}

interface SlateOptions {
  readonly mode: 'off' | 'still' | 'last-frame' | 'picture';
  readonly imagePath: string | undefined;
  readonly ffmpegPath: string;
  /** Memory per process. */
  readonly memoryBytes: number;
  readonly owner: ProcessOwner;
}

interface SlateImage {
  readonly bytes: Buffer;
  readonly input: SlateInput;
}

const samplesPerAacFrame = 1024;
const maxRunMs = 5000;
const maxSlateBytes = 16 * 1024 * 1024;
const maxImageBytes = 16 * 1024 * 1024;
const maxCachedSlates = 8;
/** Maximum slates at once: when the network in front of the server fails, all publishers are lost at once. */
const maxRunning = 2;
const trialFormat: SlateFormat = {
  width: 640,
  height: 360,
  framesPerSecond: 2,
  frames: 2,
  codec: undefined,
  audio: undefined,
};

/** Undefined without a configured slate. @throws AppError `config-invalid` when the image cannot be shown */
export async function openSlate(options: SlateOptions): Promise<SlateSource | undefined> {
  const { mode, imagePath } = options;
  if (mode === 'off' || mode === 'still') return undefined;
  const limit = new ConcurrencyLimit(maxRunning);
  if (mode === 'last-frame') {
    return {
      showsLastFrame: true,
      make: (format, lastFrame, signal) =>
        limit.run(() => makeSlate(options, format, 'mp4', lastFrame ?? [], signal)),
    };
  }
  if (imagePath === undefined) {
    throw new AppError('config-invalid', 'live.slatePicture: required where live.slate is picture');
  }
  const image = await readImage(imagePath);
  try {
    await makeSlate(options, trialFormat, image.input, [image.bytes], new AbortController().signal);
  } catch (error) {
    const message = `live.slatePicture: ${imagePath} cannot be shown: ${messageOf(error)}`;
    throw new AppError('config-invalid', message, { cause: error });
  }
  return imageSlates(options, image, limit);
}

/** Caches slates by format, and makes those of one format one after the other. */
function imageSlates(options: SlateOptions, image: SlateImage, limit: ConcurrencyLimit): SlateSource {
  const cache = new LRUCache<string, SlateMedia>({ max: maxCachedSlates });
  const running = new Map<string, Promise<void>>();
  return {
    showsLastFrame: false,
    make: async (format, _, signal) => {
      const key = JSON.stringify(format);
      return (
        cache.get(key) ??
        limit.run(async () => {
          while (running.has(key)) await running.get(key);
          const cached = cache.get(key);
          if (cached !== undefined) return cached;
          const { promise, resolve } = Promise.withResolvers<void>();
          running.set(key, promise);
          try {
            const media = await makeSlate(options, format, image.input, [image.bytes], signal);
            cache.set(key, media);
            return media;
          } finally {
            running.delete(key);
            resolve();
          }
        })
      );
    },
  };
}

async function readImage(path: string): Promise<SlateImage> {
  const invalid = (reason: string) => new AppError('config-invalid', `live.slatePicture: ${path} ${reason}`);
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > maxImageBytes) throw invalid(`is larger than ${maxImageBytes / 1024 / 1024} MiB`);
    bytes = await readFile(path);
  } catch (error) {
    throw error instanceof AppError ? error : invalid(`cannot be read: ${messageOf(error)}`);
  }
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return { bytes, input: 'jpeg_pipe' };
  if (bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))) return { bytes, input: 'png_pipe' };
  throw invalid('is neither a JPEG nor a PNG image');
}

async function makeSlate(
  { ffmpegPath, memoryBytes, owner }: Pick<SlateOptions, 'ffmpegPath' | 'memoryBytes' | 'owner'>,
  format: SlateFormat,
  input: SlateInput,
  frame: readonly Buffer[],
  signal: AbortSignal,
): Promise<SlateMedia> {
  signal.throwIfAborted();
  const child = owner.start(ffmpegPath, slateArguments(format, input), {
    outputs: 1,
    limits: childLimitsOf({ timeoutMs: maxRunMs, memoryBytes, outputBytes: 0 }),
    ids: { purpose: 'slate' },
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const kill = () => void child.kill();
  child.output(3).on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxSlateBytes) kill();
    else chunks.push(chunk);
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, maxRunMs);
  signal.addEventListener('abort', kill, { once: true });
  for (const piece of frame) child.stdin.write(piece);
  child.stdin.end();
  const exit = await child.exited;
  clearTimeout(timer);
  signal.removeEventListener('abort', kill);
  signal.throwIfAborted();
  if (exit.kind !== 'ended') {
    const ended = exit.signal === null ? exit.kind : `signal ${exit.signal}`;
    const reason = isLate ? `it took more than ${maxRunMs / 1000} s` : ended;
    throw new Error(`ffmpeg made no slate: ${[reason, ...exit.lastLines.slice(-5)].join(' | ')}`);
  }
  return readSlate(format, Buffer.concat(chunks));
}

function readSlate(format: SlateFormat, flv: Buffer): SlateMedia {
  const events: MediaEvent[] = [];
  for (const tag of readFlvTags(flv)) readTagEvents(tag, event => events.push(event));
  const configOf = (kind: TrackKind) =>
    events.find((event): event is CodecConfig => event.type === 'config' && event.kind === kind);
  const samplesOf = (kind: TrackKind) =>
    events.filter((event): event is MediaSample => event.type === 'sample' && event.kind === kind);
  const [videoConfig, config] = [configOf('video'), configOf('audio')];
  const frames = samplesOf('video');
  // The first frames hold the encoder delay.
  const silence = samplesOf('audio').at(-1);
  if (videoConfig === undefined || frames[0]?.isKeyframe !== true) throw new Error('ffmpeg made no video');
  if (format.audio !== undefined && (config === undefined || silence === undefined)) {
    throw new Error('ffmpeg made no audio');
  }
  return {
    shape: format,
    declared: events.find(event => event.type === 'declared')?.media,
    videoConfig,
    frames,
    audio:
      format.audio === undefined || config === undefined || silence === undefined
        ? undefined
        : { config, silence, frameMs: (samplesPerAacFrame * 1000) / format.audio.sampleRate },
  };
}
