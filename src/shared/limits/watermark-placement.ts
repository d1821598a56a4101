export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Whole pixels from the upper left corner; opacity from 0 to 1. */
export interface PlacedImage extends Size {
  readonly x: number;
  readonly y: number;
  readonly opacity: number;
}

/** Values are `10px`, `5%`, and `initial` for sizes; the opacity is a percentage. */
export type Placement = Readonly<
  Partial<Record<'top' | 'left' | 'bottom' | 'right' | 'width' | 'height' | 'opacity', string | undefined>>
>;

/**
 * A single dimension keeps the aspect ratio; `left` and `top` win over `right` and `bottom`. Default: the
 * image's own size, top left. The image is shrunk into `video`, the displayed size of the source.
 */
export function placeWatermark(placement: Placement, image: Size, video: Size): PlacedImage {
  const wantedWidth = pixelsOf(placement.width, video.width);
  const wantedHeight = pixelsOf(placement.height, video.height);
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
    opacity: Math.min(1, pixelsOf(placement.opacity, 1) ?? 1),
  };
}

function offsetOf(near: string | undefined, far: string | undefined, size: number, whole: number): number {
  const fromFar = pixelsOf(far, whole);
  const offset = pixelsOf(near, whole) ?? (fromFar === undefined ? 0 : whole - fromFar - size);
  return Math.max(0, Math.min(Math.round(offset), whole - size));
}

function pixelsOf(text: string | undefined, whole: number): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(px|%)$/.exec(text ?? '') ?? [];
  if (number === undefined) return undefined;
  return unit === '%' ? (Number(number) / 100) * whole : Number(number);
}

function bounded(length: number, whole: number): number {
  return Math.max(1, Math.min(Math.round(length), whole));
}
