import { Icon } from '../../ui/icon.tsx';
import type { Size } from './placement.ts';
import { useWatermarkImage } from './use-watermark-image.ts';

/** The image of a watermark on chequers, by which one sees what is transparent. */
export function WatermarkPicture({
  watermarkId,
  onSize,
}: {
  watermarkId: string;
  /** Told its size in pixels once that is known. */
  onSize?: (size: Size) => void;
}) {
  const { url, problem } = useWatermarkImage(watermarkId);
  if (problem !== undefined) {
    return (
      <div class="chequers">
        <span class="quiet no-picture">
          <Icon name="image" /> {problem.text}
        </span>
      </div>
    );
  }
  return <Picture url={url} alt="Watermark" {...(onSize === undefined ? {} : { onSize })} />;
}

/** An image on chequers. @param url undefined while it is not there yet; its place is kept */
export function Picture({
  url,
  alt,
  onSize,
}: {
  url: string | undefined;
  alt: string;
  onSize?: (size: Size) => void;
}) {
  return (
    <div class="chequers">
      {url !== undefined && (
        <img
          src={url}
          alt={alt}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            onSize?.({ width: naturalWidth, height: naturalHeight })
          }
        />
      )}
    </div>
  );
}
