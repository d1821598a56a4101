import { readFile } from 'node:fs/promises';
import { AppError } from '../shared/errors.ts';
import { fileError } from './file-body.ts';
import { type ImageFacts, type ImageType, readImage } from './image-file.ts';
import { type FileBody, fileBody, type UploadedFile } from './route.ts';

/** Which images an endpoint takes. */
export interface ImageRules {
  readonly types: readonly ImageType[];
  readonly bytesMax: number;
  /** Pixels: a small file can say that it is a huge picture. */
  readonly sideMax: number;
  /** Pixels, where less height than width is taken. */
  readonly heightMax?: number;
  /** Title of the refusal of other formats; clients compare it. */
  readonly refusalTitle: string;
}

/** Images that videos and live streams are announced by. The title names fewer formats than are taken, as clients know it. */
export const thumbnailImage: ImageRules = {
  types: ['image/jpeg', 'image/png', 'image/webp'],
  bytesMax: 8 * 1_024 * 1_024,
  sideMax: 8_192,
  refusalTitle: 'Only [jpeg, jpg, JPG, JPEG] extensions are supported.',
};

/**
 * A request body of one image.
 *
 * @param formats for the API document, such as `A JPEG or PNG image`
 */
export function imageBody(rules: ImageRules, formats: string): FileBody {
  const kibibytes = rules.bytesMax / 1_024;
  const size = kibibytes < 1_024 ? `${kibibytes} KiB` : `${kibibytes / 1_024} MiB`;
  return fileBody({
    bytesMax: rules.bytesMax,
    description: `${formats}, of at most ${size} and ${sidesOf(rules)}.`,
    contentTypes: rules.types,
  });
}

/**
 * Looks into a received image without decoding it. Its format is what its bytes say: the name does not matter.
 *
 * @throws AppError of the `uploaded-file-` codes when the rules do not take it
 */
export async function readUploadedImage(file: UploadedFile, rules: ImageRules): Promise<ImageFacts> {
  if (file.bytes === 0) throw fileError('uploaded-file-empty');
  const image = readImage(await readFile(file.path));
  if (image === undefined || (image !== 'damaged' && !rules.types.includes(image.type))) {
    throw new AppError('uploaded-file-extension-invalid', undefined, {
      details: { name: 'file', title: rules.refusalTitle },
    });
  }
  if (image === 'damaged') throw fileError('uploaded-file-invalid-file', 'The image is damaged.');
  if (image.width > rules.sideMax || image.height > (rules.heightMax ?? rules.sideMax)) {
    throw fileError('uploaded-file-invalid-file', `The image must be of at most ${sidesOf(rules)}.`);
  }
  return image;
}

/**
 * Requires that an image may be decoded.
 *
 * @throws AppError `uploaded-file-invalid-file` when it has more pixels
 */
export function requirePixels({ width, height }: ImageFacts, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  const detail = `The image of ${width}x${height} has more than ${maxPixels} pixels. Upload a smaller one.`;
  throw fileError('uploaded-file-invalid-file', detail);
}

function sidesOf({ sideMax, heightMax }: ImageRules): string {
  return heightMax === undefined ? `${sideMax} pixels a side` : `${sideMax} x ${heightMax} pixels`;
}
