import { fileError } from '../../../http/bodies/file-body.ts';
import type { ImageInfo, ImageType } from '../../../http/bodies/image-file.ts';
import { readUploadedImage, thumbnailImage } from '../../../http/bodies/uploaded-image.ts';
import type { Caller } from '../../../http/routing/caller.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';

/**
 * Burns the sandbox's watermark into an image file, in its place.
 *
 * @param image what it is; the answer is its type afterwards, undefined when no picture comes out of it
 * @throws AppError `images-busy`; `uploaded-file-invalid-file` when it has too many pixels
 */
export type AddSandboxWatermark = (path: string, image: ImageInfo) => Promise<ImageType | undefined>;

/** Whose image it is, as far as it matters. */
export type ThumbnailOwner = Pick<Caller, 'environment'>;

/**
 * Looks into a received image, and makes of it what may be shown: in the sandbox it is marked.
 *
 * @returns its type
 * @throws AppError of the `uploaded-file-` codes when it can be no thumbnail
 */
export async function prepareThumbnail(
  file: UploadedFile,
  { environment }: ThumbnailOwner,
  addWatermark: AddSandboxWatermark,
): Promise<ImageType> {
  const image = await readUploadedImage(file, thumbnailImage);
  if (environment === 'production') return image.type;
  const watermarkedType = await addWatermark(file.path, image);
  if (watermarkedType === undefined) throw fileError('uploaded-file-invalid-file', 'The image is damaged.');
  return watermarkedType;
}
