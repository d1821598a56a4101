import { fileError } from '../../../http/bodies/file-body.ts';
import type { ImageInfo, ImageType } from '../../../http/bodies/image-file.ts';
import { readUploadedImage, thumbnailImage } from '../../../http/bodies/uploaded-image.ts';
import type { Caller } from '../../../http/routing/caller.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';

/**
 * Burns the sandbox watermark into an image file in place.
 *
 * @returns the type of the new file; undefined when the image cannot be decoded
 * @throws AppError `images-busy`; `uploaded-file-invalid-file` when it has too many pixels
 */
export type AddSandboxWatermark = (path: string, image: ImageInfo) => Promise<ImageType | undefined>;

export type ThumbnailOwner = Pick<Caller, 'environment'>;

/**
 * Validates a received image, and adds the watermark in the sandbox.
 *
 * @returns the type of the image
 * @throws AppError of the `uploaded-file-` codes when it cannot be a thumbnail
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
