import type { ProbedStream } from '../../ffmpeg/media-tools.ts';
import { parseAudioRenditionName } from '../../shared/audio-rendition.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Transaction } from '../../store/connection.ts';
import type { EncodingRequest } from '../encoding-repository.ts';
import type { RenditionMetadata } from '../index/rendition.ts';
import type { NamedTrack } from '../recording/recorded-audio.ts';
import { measured, passthroughOf, renditionsOf } from '../recording/recording-video.ts';
import { type Passthrough, planPassthrough } from '../source/passthrough.ts';
import { planSource } from '../source/source-plan.ts';
import { exceedsMaxDuration, sourceRequestOf } from '../source/source-request.ts';
import type { VodContext } from '../vod-context.ts';
import { type ClipEdges, encodeEdges } from './clip-edges.ts';
import type { ClipMedia, ClipRange } from './clip-media.ts';
import { streamOf } from './clip-streams.ts';
import { type WrittenClip, writeClip } from './clip-writer.ts';
import { ClipCutRefused } from './encode-edge.ts';

export interface ClipTarget {
  /** The new video. */
  readonly videoId: string;
  /** Path of the file, which becomes the source of the video. */
  readonly path: string;
  /**
   * True when the clip starts and ends at frames. Otherwise, it starts with the keyframe at its start or before.
   */
  readonly isExact: boolean;
}

interface ClipSource {
  readonly range: ClipRange;
  /** Returns the renditions that viewers get, or the media from which everything is encoded. */
  media(isEncoded: boolean): Promise<ClipMedia>;
  /** True when all of the clip is encoded in any case. */
  readonly mustEncode: boolean;
}

export interface MadeClip extends Pick<WrittenClip, 'bytes' | 'leadSeconds'> {
  /** False when the file is the clip itself. */
  readonly isEncoded: boolean;
  /** Call it when the file is the source of the video. */
  prepare(signal: AbortSignal): Promise<StoreClip>;
  /** Removes what was made beside the file. */
  discard(): Promise<void>;
}

/** Makes the video playable. Returns false when it must be prepared like an upload. */
export type StoreClip = (transaction: Transaction) => Promise<boolean>;

/** A row may overlap the range by so much and have no frame of it. */
const roundingSeconds = 0.001;

/**
 * Copies a range into a file, and indexes it as a recording, so that nothing is probed or encoded before it plays. Where the
 * edges of an exact clip cannot be encoded alone, the copy begins before it, and all of it is encoded.
 */
export async function makeClip(
  context: VodContext,
  target: ClipTarget,
  source: ClipSource,
  signal: AbortSignal,
): Promise<MadeClip> {
  const { folders, clock } = context;
  const { videoId, path, isExact } = target;
  const { range } = source;
  const mediaOf = async (isForEncoder: boolean): Promise<ClipMedia> => {
    const { rows, ...media } = await source.media(isForEncoder);
    return { ...media, rows: rows.filter(row => row.startSeconds < range.endSeconds - roundingSeconds) };
  };
  const cut =
    isExact && !source.mustEncode
      ? await tryEdges(context, videoId, await mediaOf(false), range, signal)
      : undefined;
  const isEncoded = source.mustEncode || (isExact && cut === undefined);
  const media = await mediaOf(isEncoded);
  const indexFolder = isEncoded ? undefined : await folders.make(videoId, clock.nowMs());
  const discard = async () => {
    if (indexFolder !== undefined) await folders.discard(videoId, indexFolder.name);
  };
  try {
    const options = { indexFolder: indexFolder?.folder, edges: cut?.edges, signal };
    const written = await writeClip(path, media, range, options);
    const { bytes, leadSeconds } = written;
    const prepare = (preparing: AbortSignal) =>
      prepareClip(context, videoId, { media, written, indexFolder }, preparing);
    return { bytes, leadSeconds, isEncoded, prepare, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Undefined when all of the clip must be encoded. */
async function tryEdges(
  context: VodContext,
  videoId: string,
  media: ClipMedia,
  range: ClipRange,
  signal: AbortSignal,
): Promise<{ readonly edges: ClipEdges | undefined } | undefined> {
  try {
    return { edges: await encodeEdges(context, videoId, { media, range }, signal) };
  } catch (error) {
    const isOfMedia =
      error instanceof ClipCutRefused ||
      (error instanceof AppError && ['media-malformed', 'process-failed'].includes(error.code));
    if (!isOfMedia) throw error;
    context.log.info('clip-encoded-whole', { videoId, reason: messageOf(error) });
    return undefined;
  }
}

async function prepareClip(
  context: VodContext,
  videoId: string,
  {
    media,
    written,
    indexFolder,
  }: {
    readonly media: ClipMedia;
    readonly written: WrittenClip;
    readonly indexFolder: { readonly generation: number; readonly name: string } | undefined;
  },
  signal: AbortSignal,
): Promise<StoreClip> {
  const { records, folders, settings } = context;
  const { audioTracks } = media;
  const passthrough = indexFolder && passthroughOfClip(context, videoId, media, written);
  let store: ((transaction: Transaction) => Promise<void>) | undefined;
  if (indexFolder !== undefined && passthrough !== undefined) {
    await folders.keep(videoId, indexFolder.name, signal);
    store = await planPassthrough(context, videoId, passthrough, indexFolder);
  } else if (indexFolder !== undefined) await folders.discard(videoId, indexFolder.name);
  const renditions = written.indexed === undefined ? [] : renditionsOf(written.indexed);
  return async transaction => {
    if (audioTracks !== undefined) await records.setAudioTracks(videoId, audioTracks, transaction);
    const request = await records.request(videoId, transaction);
    if (store === undefined || request === undefined) return false;
    // The next job removes the indexes.
    if (mustEncode(request, renditions, settings.sandboxVideoMs)) return false;
    await store(transaction);
    return true;
  };
}

/** True when the owner wants another picture, or a part of it. */
export function mustEncode(
  request: EncodingRequest,
  renditions: readonly Pick<RenditionMetadata, 'durationTicks' | 'timescale'>[],
  sandboxVideoMs: number,
): boolean {
  const sourceRequest = sourceRequestOf(request, sandboxVideoMs);
  const { clip, hasWatermark } = sourceRequest;
  return clip !== undefined || hasWatermark === true || exceedsMaxDuration(renditions, sourceRequest);
}

function passthroughOfClip(
  { log }: VodContext,
  videoId: string,
  { isPlayable }: ClipMedia,
  { indexed, bytes, named, hasClosedCaptions }: WrittenClip,
): Passthrough | undefined {
  if (indexed === undefined) return undefined;
  try {
    const streams = streamsOf(named).map(stream =>
      stream.kind === 'video' && hasClosedCaptions ? { ...stream, hasClosedCaptions } : stream,
    );
    // Only ffprobe knows what it is.
    if (streams.some(({ codec }) => codec === 'unknown')) return undefined;
    const plan = planSource(measured({ format: 'mp4', bytes, streams }, indexed), {});
    return plan.kind === 'planned' ? passthroughOf(plan, indexed, isPlayable) : undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log.info('clip-not-passed-through', { videoId, reason: messageOf(error) });
    return undefined;
  }
}

/** A track that is there in stereo and in 5.1 has one stream, as in an uploaded file. */
function streamsOf(named: readonly NamedTrack[]): ProbedStream[] {
  const byTrack = new Map<number, NamedTrack>();
  for (const one of named) byTrack.set(parseAudioRenditionName(one.name)?.track ?? 0, one);
  return [...byTrack.values()].map(({ track, stream }) => streamOf(track, stream));
}
