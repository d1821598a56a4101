import { useState } from 'preact/hooks';
import type { Backdrop } from './backdrops.ts';
import type { PlacedImage } from './placement.ts';

/** Taller videos are shown narrower. */
const maxHeight = 460;

export function PlacementFrame({
  backdrop: { size, picture },
  image,
  placed,
  onImageSize,
}: {
  backdrop: Backdrop;
  image: string | undefined;
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
