import type { Size } from '../../../../shared/limits/watermark-placement.ts';
import { t } from '../../texts/players.ts';
import { Icon } from '../../ui/icon.tsx';
import { useWatermarkImage } from './use-watermark-image.ts';

export function WatermarkImage({
  watermarkId,
  onSize,
}: {
  watermarkId: string;
  onSize?: (size: Size) => void;
}) {
  const { url, problem } = useWatermarkImage(watermarkId);
  if (problem !== undefined) {
    return (
      <div class="checkerboard">
        <span class="quiet no-picture">
          <Icon name="image" /> {problem.text}
        </span>
      </div>
    );
  }
  return <PreviewImage url={url} alt={t('watermarks.watermark')} onSize={onSize} />;
}

export function PreviewImage({
  url,
  alt,
  onSize,
  onBroken,
}: {
  url: string | undefined;
  alt: string;
  onSize?: (size: Size) => void;
  onBroken?: () => void;
}) {
  return (
    <div class="checkerboard">
      {url !== undefined && (
        <img
          src={url}
          alt={alt}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            onSize?.({ width: naturalWidth, height: naturalHeight })
          }
          onError={onBroken}
        />
      )}
    </div>
  );
}
