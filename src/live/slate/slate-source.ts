import { readFile, stat } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { type SlateFormat, type SlateInput, slateArguments } from '../../ffmpeg/arguments/slate-arguments.ts';
import { childLimitsOf } from '../../ffmpeg/process/bounded-run.ts';
import type { ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { readFlvTags } from '../../media/flv/flv-reader.ts';
import { describeAudioTag, describeVideoTag } from '../../media/flv/flv-tag.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';

/** A slate's media, to be repeated for as long as it is shown: bodies of FLV tags. */
export interface SlateMedia {
  readonly shape: SlateFormat;
  /** What an encoder would say of itself. */
  readonly metadata: Buffer | undefined;
  readonly videoConfig: Buffer;
  /** The first is a keyframe. */
  readonly frames: readonly Buffer[];
  readonly audio: { readonly config: Buffer; readonly silence: Buffer; readonly frameMs: number } | undefined;
}

/** What is shown in place of publishers that are gone. */
export interface SlateSource {
  /** Each shows its own last keyframe; otherwise all show the same picture. */
  readonly showsLastFrame: boolean;
  /**
   * Makes a slate.
   *
   * @param picture an init section and fragments that begin with a keyframe, where the last frame is shown
   * @throws AppError or Error when ffmpeg cannot
   */
  make(shape: SlateFormat, picture: readonly Buffer[] | undefined, signal: AbortSignal): Promise<SlateMedia>;
}

/** What {@link openSlate} needs. */
export interface SlateOptions {
  readonly mode: 'off' | 'still' | 'last-frame' | 'picture';
  readonly imagePath: string | undefined;
  readonly ffmpegPath: string;
  /** For the data of one run. */
  readonly memoryBytes: number;
  readonly owner: ProcessOwner;
}

const samplesOfAac = 1024;
const longestRunMs = 5000;
const mostBytes = 16 * 1024 * 1024;
const mostPictureBytes = 16 * 1024 * 1024;
/** Slates of the picture, of as many shapes. */
const mostKept = 8;
/** When the network in front of the server fails, all publishers are lost in the same moment. */
const mostAtOnce = 2;
const trialShape: SlateFormat = {
  width: 640,
  height: 360,
  framesPerSecond: 2,
  frames: 2,
  codec: undefined,
  audio: undefined,
};

/**
 * Makes ready what is shown in place of publishers that are gone; undefined when that is nothing.
 *
 * @throws AppError `config-invalid` when the picture cannot be shown
 */
export async function openSlate(options: SlateOptions): Promise<SlateSource | undefined> {
  const { mode, imagePath: picturePath } = options;
  if (mode === 'off' || mode === 'still') return undefined;
  const turns = new ConcurrencyLimit(mostAtOnce);
  if (mode === 'last-frame') {
    return {
      showsLastFrame: true,
      make: (shape, picture, signal) =>
        turns.run(() => makeSlate(options, shape, 'mp4', picture ?? [], signal)),
    };
  }
  if (picturePath === undefined) {
    throw new AppError('config-invalid', 'live.slatePicture: needed where live.slate is picture');
  }
  const { picture, input } = await readPicture(picturePath);
  try {
    await makeSlate(options, trialShape, input, [picture], new AbortController().signal);
  } catch (error) {
    throw new AppError(
      'config-invalid',
      `live.slatePicture: ${picturePath} cannot be shown: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  const kept = new LRUCache<string, SlateMedia>({ max: mostKept });
  const making = new Map<string, Promise<void>>();
  return {
    showsLastFrame: false,
    make: async (shape, _, signal) => {
      const key = JSON.stringify(shape);
      const made =
        kept.get(key) ??
        (await turns.run(async () => {
          // One of the same shape may be under way.
          while (making.has(key)) await making.get(key);
          const former = kept.get(key);
          if (former !== undefined) return former;
          const { promise, resolve } = Promise.withResolvers<void>();
          making.set(key, promise);
          try {
            const media = await makeSlate(options, shape, input, [picture], signal);
            kept.set(key, media);
            return media;
          } finally {
            making.delete(key);
            resolve();
          }
        }));
      return made;
    },
  };
}

async function readPicture(path: string): Promise<{ picture: Buffer; input: SlateInput }> {
  const refuse = (why: string) => new AppError('config-invalid', `live.slatePicture: ${path} ${why}`);
  let picture: Buffer;
  try {
    const { size } = await stat(path);
    if (size > mostPictureBytes) throw refuse(`is larger than ${mostPictureBytes / 1024 / 1024} MiB`);
    picture = await readFile(path);
  } catch (error) {
    throw error instanceof AppError ? error : refuse(`cannot be read: ${messageOf(error)}`);
  }
  if (picture.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return { picture, input: 'jpeg_pipe' };
  if (picture.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47])))
    return { picture, input: 'png_pipe' };
  throw refuse('is neither a JPEG nor a PNG image');
}

async function makeSlate(
  { ffmpegPath, memoryBytes, owner }: Pick<SlateOptions, 'ffmpegPath' | 'memoryBytes' | 'owner'>,
  shape: SlateFormat,
  input: SlateInput,
  picture: readonly Buffer[],
  signal: AbortSignal,
): Promise<SlateMedia> {
  signal.throwIfAborted();
  const child = owner.start(ffmpegPath, slateArguments(shape, input), {
    outputs: 1,
    limits: childLimitsOf({ timeoutMs: longestRunMs, memoryBytes, outputBytes: 0 }),
    ids: { purpose: 'slate' },
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const kill = () => void child.kill();
  child.output(3).on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) kill();
    else chunks.push(chunk);
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, longestRunMs);
  signal.addEventListener('abort', kill, { once: true });
  for (const piece of picture) child.stdin.write(piece);
  child.stdin.end();
  const exit = await child.exited;
  clearTimeout(timer);
  signal.removeEventListener('abort', kill);
  signal.throwIfAborted();
  if (exit.kind !== 'ended') {
    const ended = exit.signal === null ? exit.kind : `signal ${exit.signal}`;
    const how = isLate ? `it took more than ${longestRunMs / 1000} s` : ended;
    throw new Error(`ffmpeg made no slate: ${[how, ...exit.lastLines.slice(-5)].join(' | ')}`);
  }
  return readSlate(shape, Buffer.concat(chunks));
}

/** Finds the parts of a slate in FLV. */
function readSlate(shape: SlateFormat, flv: Buffer): SlateMedia {
  const tags = readFlvTags(flv);
  const video = tags.filter(({ kind }) => kind === 'video');
  const videoOf = (role: 'config' | 'media') =>
    video
      .filter(({ body }) => {
        const found = describeVideoTag(body)?.role;
        return role === 'config' ? found === 'config' : found === 'keyframe' || found === 'frame';
      })
      .map(({ body }) => body);
  const audio = tags.filter(({ kind }) => kind === 'audio');
  const config = audio.find(({ body }) => describeAudioTag(body)?.role === 'config');
  // The first frames hold what the encoder begins with.
  const silence = audio.findLast(({ body }) => describeAudioTag(body)?.role === 'frame');
  const frames = videoOf('media');
  const [videoConfig] = videoOf('config');
  const first = frames[0] === undefined ? undefined : describeVideoTag(frames[0]);
  if (videoConfig === undefined || first?.role !== 'keyframe') throw new Error('ffmpeg made no picture');
  if (shape.audio !== undefined && (config === undefined || silence === undefined)) {
    throw new Error('ffmpeg made no sound');
  }
  return {
    shape,
    metadata: tags.find(({ kind }) => kind === 'script')?.body,
    videoConfig,
    frames,
    audio:
      shape.audio === undefined || config === undefined || silence === undefined
        ? undefined
        : {
            config: config.body,
            silence: silence.body,
            frameMs: (samplesOfAac * 1000) / shape.audio.sampleRate,
          },
  };
}
