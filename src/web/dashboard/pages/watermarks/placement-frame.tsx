import { useState } from 'preact/hooks';
import type { Backdrop } from './backdrops.ts';
import type { PlacedImage } from './placement.ts';

/** Pixels on the page; what is taller is made narrower. */
const maxHeight = 460;

/** A picture with the watermark where the server will put it. */
export function PlacementFrame({
  backdrop: { size, picture },
  image,
  placed,
  onImageSize,
}: {
  backdrop: Backdrop;
  /** Address of the watermark's image. */
  image: string | undefined;
  /** Undefined while the size of the image is not known. */
  placed: PlacedImage | undefined;
  onImageSize: (size: { width: number; height: number }) => void;
}) {
  const [missing, setMissing] = useState<string>();
  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
  return (
    <div
      class="placement-frame"
      style={{
        aspectRatio: `${size.width} / ${size.height}`,
        maxWidth: `${Math.round((maxHeight * size.width) / size.height)}px`,
      }}
    >
      {picture !== undefined && picture !== missing && (
        <img class="placement-backdrop" src={picture} alt="" onError={() => setMissing(picture)} />
      )}
      {image !== undefined && (
        <img
          class="placement-mark"
          src={image}
          alt={
            placed === undefined
              ? 'Watermark'
              : `Watermark, ${placed.width} by ${placed.height} pixels at ${placed.x}, ${placed.y}`
          }
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            onImageSize({ width: naturalWidth, height: naturalHeight })
          }
          style={
            placed === undefined
              ? { visibility: 'hidden' }
              : {
                  left: percent(placed.x, size.width),
                  top: percent(placed.y, size.height),
                  width: percent(placed.width, size.width),
                  height: percent(placed.height, size.height),
                  opacity: placed.opacity,
                }
          }
        />
      )}
    </div>
  );
}
