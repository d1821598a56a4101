import type { Overlay } from '../../ffmpeg/arguments/encode-options.ts';
import { sandboxOverlay } from '../../ffmpeg/arguments/sandbox-watermark.ts';
import { placeWatermark } from '../../shared/limits/watermark-placement.ts';
import type { Resolution } from '../encode/ladder.ts';
import type { EncodingRequest } from '../encoding-repository.ts';
import type { RenditionMetadata } from '../index/rendition.ts';
import type { VodContext } from '../vod-context.ts';

export interface SourceRequest {
  readonly clip?: { readonly startMs: number; readonly endMs: number | undefined } | undefined;
  readonly hasWatermark?: boolean;
  readonly maxSeconds?: number | undefined;
  readonly canPassthroughVideo?: boolean;
  readonly canPassthroughAudio?: boolean;
  /** Two mono tracks, left and right, become one. Broadcasts and clips have the tracks that viewers choose. */
  readonly joinsMono?: boolean;
  /** Language of the video, and of subtitles without one. */
  readonly language?: string | undefined;
}

/** Counted from the first presented instant. An undefined duration reaches to the end. */
export interface SourcePart {
  readonly startSeconds: number;
  readonly durationSeconds: number | undefined;
}

export const overhangSeconds = 0.5;

/** Recordings have the watermark already, because live streams carry it, and so do clips. */
export function hasSandboxWatermark(request: EncodingRequest): boolean {
  return hasSandboxLimit(request) && !request.isClip;
}

/** Recordings are short enough. */
function hasSandboxLimit({ environment, origin }: EncodingRequest): boolean {
  return environment === 'sandbox' && origin !== 'recording';
}

export function sourceRequestOf(request: EncodingRequest, sandboxVideoMs: number): SourceRequest {
  return {
    clip: request.clip,
    language: request.language,
    hasWatermark: request.watermark !== undefined || hasSandboxWatermark(request),
    ...(request.origin === 'recording' || request.isClip ? {} : { joinsMono: true }),
    ...(hasSandboxLimit(request) ? { maxSeconds: sandboxVideoMs / 1000 } : {}),
  };
}

export function partToRead(
  part: SourcePart | undefined,
  { maxSeconds }: SourceRequest,
): SourcePart | undefined {
  if (maxSeconds === undefined || part?.durationSeconds !== undefined) return part;
  return { startSeconds: part?.startSeconds ?? 0, durationSeconds: maxSeconds + overhangSeconds };
}

export function exceedsMaxDuration(
  renditions: readonly (Pick<RenditionMetadata, 'durationTicks' | 'timescale'> | undefined)[],
  { maxSeconds = Number.POSITIVE_INFINITY }: SourceRequest,
): boolean {
  return renditions.some(
    one => one !== undefined && one.durationTicks / one.timescale > maxSeconds + overhangSeconds,
  );
}

export async function watermarkOverlays(
  { tools }: Pick<VodContext, 'tools'>,
  request: EncodingRequest,
  watermarkPath: string | undefined,
  resolution: Resolution,
  signal: AbortSignal,
): Promise<Overlay[]> {
  const overlays: Overlay[] = [];
  if (request.watermark !== undefined && watermarkPath !== undefined) {
    const size = await tools.sizeOfImage(watermarkPath, signal);
    overlays.push({ path: watermarkPath, ...placeWatermark(request.watermark, size, resolution) });
  }
  if (hasSandboxWatermark(request)) overlays.push(sandboxOverlay(resolution));
  return overlays;
}
