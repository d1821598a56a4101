import { useId } from 'preact/hooks';
import { t } from '../../texts/players.ts';
import { convertUnit, isLength, type LengthDraft, type LengthUnit } from './placement-draft.ts';

function unitLabel(unit: LengthUnit): string {
  if (unit === '%') return unit;
  return unit === 'px' ? t('placement.pixels') : t('placement.original');
}

export function LengthField({
  label,
  value,
  wholePx,
  usualPx,
  isSize = false,
  onValue,
}: {
  label: string;
  value: LengthDraft;
  /** The length that 100 % stands for. */
  wholePx: number;
  /** The length if nothing is set. */
  usualPx: number;
  isSize?: boolean;
  onValue: (value: LengthDraft) => void;
}) {
  const id = useId();
  const isWrong = !isLength(value);
  const isInitial = value.unit === 'initial';
  const units: readonly LengthUnit[] = isSize ? ['%', 'px', 'initial'] : ['%', 'px'];
  const largest = value.unit === '%' ? 100 : wholePx;
  return (
    <fieldset class="field length-field">
      <legend>{label}</legend>
      <div class="length-row">
        <input
          type="text"
          inputMode="decimal"
          autocomplete="off"
          aria-label={t('placement.numberLabel', { label })}
          aria-invalid={isWrong}
          aria-describedby={isWrong ? `${id}-error` : undefined}
          readOnly={isInitial}
          value={isInitial ? String(usualPx) : value.number}
          onInput={event => onValue({ ...value, number: event.currentTarget.value.trim().replace(',', '.') })}
        />
        <select
          aria-label={t('placement.unitLabel', { label })}
          value={value.unit}
          onChange={event =>
            onValue(convertUnit(value, event.currentTarget.value as LengthUnit, wholePx, usualPx))
          }
        >
          {units.map(unit => (
            <option key={unit} value={unit} selected={unit === value.unit}>
              {unitLabel(unit)}
            </option>
          ))}
        </select>
        <input
          type="range"
          aria-label={t('placement.sliderLabel', { label })}
          min={0}
          max={largest}
          step={value.unit === '%' ? 0.5 : 1}
          disabled={isInitial}
          value={isInitial ? usualPx : value.number}
          onInput={event => onValue({ ...value, number: event.currentTarget.value })}
        />
      </div>
      {isWrong && (
        <p class="field-error" id={`${id}-error`}>
          {t('placement.lengthWrong')}
        </p>
      )}
    </fieldset>
  );
}
