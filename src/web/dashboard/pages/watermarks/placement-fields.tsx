import type { PlacedImage, Size } from '../../../../shared/limits/watermark-placement.ts';
import { t } from '../../texts/players.ts';
import { SelectField } from '../../ui/form/field.tsx';
import { LengthField } from './length-field.tsx';
import { type Corner, isOpacity, type PlacementDraft } from './placement-draft.ts';

const corners: readonly Corner[] = ['top-left', 'top-right', 'bottom-left', 'bottom-right'];

export function PlacementFields({
  draft,
  placed,
  video,
  onDraft,
}: {
  draft: PlacementDraft;
  placed: PlacedImage;
  video: Size;
  onDraft: (draft: PlacementDraft) => void;
}) {
  const [vertical, horizontal] = draft.corner.split('-');
  const change = (changes: Partial<PlacementDraft>) => onDraft({ ...draft, ...changes });
  const isWrong = !isOpacity(draft.opacity);
  return (
    <div class="form-grid">
      <SelectField<Corner>
        label={t('placement.corner')}
        value={draft.corner}
        options={corners.map(corner => [corner, t(`placement.corners.${corner}`)] as const)}
        onValue={corner => change({ corner })}
      />
      <LengthField
        label={t('placement.from', { edge: horizontal! })}
        value={draft.x}
        wholePx={video.width}
        usualPx={0}
        onValue={x => change({ x })}
      />
      <LengthField
        label={t('placement.from', { edge: vertical! })}
        value={draft.y}
        wholePx={video.height}
        usualPx={0}
        onValue={y => change({ y })}
      />
      <LengthField
        isSize
        label={t('placement.width')}
        value={draft.width}
        wholePx={video.width}
        usualPx={placed.width}
        onValue={width => change({ width })}
      />
      <LengthField
        isSize
        label={t('placement.height')}
        value={draft.height}
        wholePx={video.height}
        usualPx={placed.height}
        onValue={height => change({ height })}
      />
      <fieldset class="field length-field">
        <legend>{t('placement.opacity')}</legend>
        <div class="length-row">
          <input
            type="text"
            inputMode="decimal"
            autocomplete="off"
            aria-label={t('placement.opacityPercent')}
            aria-invalid={isWrong}
            value={draft.opacity}
            onInput={event => change({ opacity: event.currentTarget.value.trim().replace(',', '.') })}
          />
          <span class="length-unit">%</span>
          <input
            type="range"
            aria-label={t('placement.sliderLabel', { label: t('placement.opacity') })}
            min={0}
            max={100}
            step={1}
            value={draft.opacity}
            onInput={event => change({ opacity: event.currentTarget.value })}
          />
        </div>
        {isWrong && <p class="field-error">{t('placement.opacityWrong')}</p>}
      </fieldset>
    </div>
  );
}
