import type { Size } from './placement.ts';

const types: ReadonlySet<string> = new Set(['image/png', 'image/jpeg']);
const maxBytes = 8 * 1024 ** 2;
const maxSidePixels = 4_096;

/** Returns why the server would refuse a file, as far as that is known before its upload. @param size once it is decoded */
export function imageProblem(
  { type, size: bytes }: Pick<File, 'type' | 'size'>,
  size?: Size,
): string | undefined {
  if (!types.has(type)) return 'This isn’t a PNG or JPEG image.';
  if (bytes === 0) return 'The file is empty.';
  if (bytes > maxBytes) return 'The file is larger than 8 MB. Save the image smaller, or as JPEG.';
  if (size !== undefined && Math.max(size.width, size.height) > maxSidePixels)
    return `The image has ${size.width} × ${size.height} pixels. Scale it to ${maxSidePixels} pixels or less on each side.`;
  return undefined;
}
