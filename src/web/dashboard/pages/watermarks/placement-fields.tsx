import { SelectField } from '../../ui/form/field.tsx';
import { LengthField } from './length-field.tsx';
import type { PlacedImage, Size } from './placement.ts';
import { type Corner, isOpacity, type PlacementDraft } from './placement-draft.ts';

const corners: readonly (readonly [Corner, string])[] = [
  ['top-left', 'Top left'],
  ['top-right', 'Top right'],
  ['bottom-left', 'Bottom left'],
  ['bottom-right', 'Bottom right'],
];

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
        label="Corner"
        value={draft.corner}
        options={corners}
        onValue={corner => change({ corner })}
      />
      <LengthField
        label={`From the ${horizontal}`}
        value={draft.x}
        wholePx={video.width}
        usualPx={0}
        onValue={x => change({ x })}
      />
      <LengthField
        label={`From the ${vertical}`}
        value={draft.y}
        wholePx={video.height}
        usualPx={0}
        onValue={y => change({ y })}
      />
      <LengthField
        isSize
        label="Width"
        value={draft.width}
        wholePx={video.width}
        usualPx={placed.width}
        onValue={width => change({ width })}
      />
      <LengthField
        isSize
        label="Height"
        value={draft.height}
        wholePx={video.height}
        usualPx={placed.height}
        onValue={height => change({ height })}
      />
      <fieldset class="field length-field">
        <legend>Opacity</legend>
        <div class="length-row">
          <input
            type="text"
            inputMode="decimal"
            autocomplete="off"
            aria-label="Opacity in percent"
            aria-invalid={isWrong}
            value={draft.opacity}
            onInput={event => change({ opacity: event.currentTarget.value.trim().replace(',', '.') })}
          />
          <span class="length-unit">%</span>
          <input
            type="range"
            aria-label="Opacity: slider"
            min={0}
            max={100}
            step={1}
            value={draft.opacity}
            onInput={event => change({ opacity: event.currentTarget.value })}
          />
        </div>
        {isWrong && <p class="field-error">A number from 0 to 100.</p>}
      </fieldset>
    </div>
  );
}
