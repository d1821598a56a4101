import type { Caller } from '../../http/caller.ts';
import { fileError } from '../../http/file-body.ts';
import type { ImageType } from '../../http/image-file.ts';
import type { UploadedFile } from '../../http/route.ts';
import { readUploadedImage, thumbnailImage } from '../../http/uploaded-image.ts';

/**
 * Burns the sandbox's watermark into an image file, in its place.
 *
 * @param type what it is; the answer is what it is afterwards, undefined when no picture comes out of it
 */
export type MarkImage = (path: string, type: ImageType) => Promise<ImageType | undefined>;

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
  const { type } = await readUploadedImage(file, thumbnailImage);
  if (environment === 'production') return type;
  const marked = await mark(file.path, type);
  if (marked === undefined) throw fileError('uploaded-file-invalid-file', 'The image is damaged.');
  return marked;
}
