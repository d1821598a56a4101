import { useState } from 'preact/hooks';
import {
  type PlacedImage,
  placeWatermark,
  type Size,
} from '../../../../shared/limits/watermark-placement.ts';
import { t } from '../../texts/players.ts';
import { SelectField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { type Backdrop, backdropLabel, loadBackdrop, loadVideos, plainBackdrops } from './backdrops.ts';
import { type PlacementDraft, placementOf } from './placement-draft.ts';
import { PlacementFields } from './placement-fields.tsx';
import { useWatermarkImage } from './use-watermark-image.ts';

const firstBackdrop = plainBackdrops[0]!;
const unknownSize: Size = { width: 1, height: 1 };

/** A preview of the watermark on a video, beside the fields that place it. */
export function PlacementEditor({
  watermarkId,
  draft,
  onDraft,
}: {
  watermarkId: string;
  draft: PlacementDraft;
  onDraft: (draft: PlacementDraft) => void;
}) {
  const [backdropId, setBackdropId] = useState(firstBackdrop.id);
  const [imageSize, setImageSize] = useState<Size>();
  const image = useWatermarkImage(watermarkId);
  const videos = useLoad('videos', loadVideos);
  const plain = plainBackdrops.find(({ id }) => id === backdropId);
  const ofVideo = useLoad<Backdrop | undefined>(plain === undefined ? backdropId : '', async signal =>
    plain === undefined ? loadBackdrop(backdropId, signal) : undefined,
  );
  const backdrop = plain ?? ofVideo.value ?? firstBackdrop;
  const placed = placeWatermark(placementOf(draft), imageSize ?? unknownSize, backdrop.size);
  return (
    <div class="placement">
      <div class="stack">
        <SelectField
          label={t('preview.with')}
          value={backdropId}
          options={[
            ...plainBackdrops.map(one => [one.id, backdropLabel(one)] as const),
            ...(videos.value ?? []).map(({ videoId, title }) => [videoId, title] as const),
          ]}
          onValue={setBackdropId}
        />
        <PlacementFrame
          backdrop={backdrop}
          image={image.url}
          placed={imageSize === undefined ? undefined : placed}
          onImageSize={setImageSize}
        />
        {(image.problem ?? ofVideo.problem) !== undefined && (
          <Notice tone="bad">{(image.problem ?? ofVideo.problem)?.text}</Notice>
        )}
        {imageSize !== undefined && (
          <p class="hint">
            {t('placement.size', {
              width: String(placed.width),
              height: String(placed.height),
              videoWidth: String(backdrop.size.width),
              videoHeight: String(backdrop.size.height),
            })}
          </p>
        )}
      </div>
      <PlacementFields draft={draft} placed={placed} video={backdrop.size} onDraft={onDraft} />
    </div>
  );
}

const maxHeight = 460;

function PlacementFrame({
  backdrop: { size, image: backdrop },
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
      {backdrop !== undefined && backdrop !== missing && (
        <img class="placement-backdrop" src={backdrop} alt="" onError={() => setMissing(backdrop)} />
      )}
      {image !== undefined && (
        <img
          class="placement-mark"
          src={image}
          alt={
            placed === undefined
              ? t('watermarks.watermark')
              : t('placement.alt', {
                  width: String(placed.width),
                  height: String(placed.height),
                  x: String(placed.x),
                  y: String(placed.y),
                })
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
