import type { Caller } from '../../http/caller.ts';
import { fileError } from '../../http/file-body.ts';
import type { ImageFacts, ImageType } from '../../http/image-file.ts';
import type { UploadedFile } from '../../http/route.ts';
import { readUploadedImage, thumbnailImage } from '../../http/uploaded-image.ts';

/**
 * Burns the sandbox's watermark into an image file, in its place.
 *
 * @param image what it is; the answer is its type afterwards, undefined when no picture comes out of it
 * @throws AppError `images-busy`; `uploaded-file-invalid-file` when it has too many pixels
 */
export type MarkImage = (path: string, image: ImageFacts) => Promise<ImageType | undefined>;

/** Whose image it is, as far as it matters. */
export type ThumbnailOwner = Pick<Caller, 'environment'>;

/**
 * Looks into a received image, and makes of it what may be shown: in the sandbox it is marked.
 *
 * @returns its type
 * @throws AppError of the `uploaded-file-` codes when it can be no thumbnail
 */
export async function receiveThumbnail(
  file: UploadedFile,
  { environment }: ThumbnailOwner,
  mark: MarkImage,
): Promise<ImageType> {
  const image = await readUploadedImage(file, thumbnailImage);
  if (environment === 'production') return image.type;
  const marked = await mark(file.path, image);
  if (marked === undefined) throw fileError('uploaded-file-invalid-file', 'The image is damaged.');
  return marked;
}
