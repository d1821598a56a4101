import type { Resolution } from './ladder.ts';

/** Where an image goes in a picture: whole pixels from its left upper corner; opacity 0..1. */
export interface PlacedWatermark extends Resolution {
  readonly x: number;
  readonly y: number;
  readonly opacity: number;
}

/** A placement as it was asked for: `10px`, `5%`, for the sizes also `initial`; the opacity as a percentage. */
export type WatermarkPlacement = Readonly<Record<string, string | undefined>>;

/**
 * Works out where a watermark goes. One dimension alone keeps the image's shape; `left` and `top` win over `right` and `bottom`;
 * with nothing said the image stands in its own size in the left upper corner. It is never larger than the picture, and never beyond an
 * edge of it: what would be is moved in, so that it is seen.
 */
export function placeWatermark(
  placement: WatermarkPlacement,
  image: Resolution,
  video: Resolution,
): PlacedWatermark {
  const wantedWidth = lengthOf(placement.width, video.width);
  const wantedHeight = lengthOf(placement.height, video.height);
  const shape = image.width / image.height;
  const width = wantedWidth ?? (wantedHeight === undefined ? image.width : wantedHeight * shape);
  const height = wantedHeight ?? (wantedWidth === undefined ? image.height : wantedWidth / shape);
  const isStretched = wantedWidth !== undefined && wantedHeight !== undefined;
  const fit = isStretched ? 1 : Math.min(1, video.width / width, video.height / height);
  const size = { width: bounded(width * fit, video.width), height: bounded(height * fit, video.height) };
  return {
    ...size,
    x: offsetOf(placement.left, placement.right, size.width, video.width),
    y: offsetOf(placement.top, placement.bottom, size.height, video.height),
    opacity: Math.min(1, lengthOf(placement.opacity, 1) ?? 1),
  };
}

function offsetOf(near: string | undefined, far: string | undefined, size: number, whole: number): number {
  const fromFar = lengthOf(far, whole);
  const offset = lengthOf(near, whole) ?? (fromFar === undefined ? 0 : whole - fromFar - size);
  return Math.max(0, Math.min(Math.round(offset), whole - size));
}

/** In pixels, or undefined where nothing, or `initial`, was said. */
function lengthOf(text: string | undefined, whole: number): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(px|%)$/.exec(text ?? '') ?? [];
  if (number === undefined) return undefined;
  return unit === '%' ? (Number(number) / 100) * whole : Number(number);
}

function bounded(length: number, whole: number): number {
  return Math.max(1, Math.min(Math.round(length), whole));
}
