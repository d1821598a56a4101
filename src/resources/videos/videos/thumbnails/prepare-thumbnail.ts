import { fileError } from '../../../../http/bodies/file-body.ts';
import type { ImageInfo, ImageType } from '../../../../http/bodies/image-file.ts';
import { readUploadedImage, thumbnailImage } from '../../../../http/bodies/uploaded-image.ts';
import type { Caller } from '../../../../http/routing/caller.ts';
import type { UploadedFile } from '../../../../http/routing/route.ts';

/** Burns the watermark into a file in place. Returns the new type; undefined when it cannot be decoded. */
export type AddSandboxWatermark = (path: string, image: ImageInfo) => Promise<ImageType | undefined>;

export type ThumbnailOwner = Pick<Caller, 'environment'>;

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
