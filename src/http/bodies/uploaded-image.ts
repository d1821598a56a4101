import { readFile } from 'node:fs/promises';
import { AppError } from '../../shared/errors.ts';
import { type FileBody, fileBody, type UploadedFile } from '../routing/route.ts';
import { fileError } from './file-body.ts';
import { type ImageInfo, type ImageType, readImageInfo } from './image-file.ts';

export interface ImageRules {
  readonly types: readonly ImageType[];
  readonly maxBytes: number;
  /** A small file can claim a huge size. */
  readonly maxSidePixels: number;
  /** Limits the height where it is less than the width. */
  readonly maxHeightPixels?: number;
  readonly wrongTypeTitle: string;
}

/** The title names fewer formats than are accepted: clients compare it. */
export const thumbnailImage: ImageRules = {
  types: ['image/jpeg', 'image/png', 'image/webp'],
  maxBytes: 8 * 1_024 * 1_024,
  maxSidePixels: 8_192,
  wrongTypeTitle: 'Only [jpeg, jpg, JPG, JPEG] extensions are supported.',
};

export function imageBody(rules: ImageRules, formats: string): FileBody {
  const kibibytes = rules.maxBytes / 1_024;
  const size = kibibytes < 1_024 ? `${kibibytes} KiB` : `${kibibytes / 1_024} MiB`;
  return fileBody({
    maxBytes: rules.maxBytes,
    description: `${formats}, of at most ${size} and ${describeMaxSize(rules)}.`,
    contentTypes: rules.types,
  });
}

/** Reads the format from the bytes, without decoding them. @throws AppError of the `uploaded-file-` codes */
export async function readUploadedImage(file: UploadedFile, rules: ImageRules): Promise<ImageInfo> {
  if (file.bytes === 0) throw fileError('uploaded-file-empty');
  const image = readImageInfo(await readFile(file.path));
  if (image === undefined || (image !== 'damaged' && !rules.types.includes(image.type))) {
    throw new AppError('uploaded-file-extension-invalid', undefined, {
      details: { name: 'file', title: rules.wrongTypeTitle },
    });
  }
  if (image === 'damaged') throw fileError('uploaded-file-invalid-file', 'The image is damaged.');
  if (image.width > rules.maxSidePixels || image.height > (rules.maxHeightPixels ?? rules.maxSidePixels)) {
    throw fileError('uploaded-file-invalid-file', `The image must be at most ${describeMaxSize(rules)}.`);
  }
  return image;
}

/** @throws AppError `uploaded-file-invalid-file` */
export function requireMaxPixels({ width, height }: ImageInfo, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  const detail = `The image is too large: ${width}x${height} is more than ${maxPixels} pixels. Upload a smaller one.`;
  throw fileError('uploaded-file-invalid-file', detail);
}

function describeMaxSize({ maxSidePixels, maxHeightPixels }: ImageRules): string {
  return maxHeightPixels === undefined
    ? `${maxSidePixels} pixels a side`
    : `${maxSidePixels} x ${maxHeightPixels} pixels`;
}
