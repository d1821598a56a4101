import { formatNumber, formatPercent } from '../../format/size.ts';
import { t } from '../../texts/players.ts';
import { Field } from '../../ui/form/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { formatColor, hexOf, parseColor } from './color.ts';

export function ColorField({
  label,
  value,
  contrast,
  field,
  onValue,
}: {
  label: string;
  value: string;
  contrast: number | undefined;
  field: string;
  onValue: (value: string) => void;
}) {
  const color = parseColor(value);
  const shown = color ?? { red: 0, green: 0, blue: 0, alpha: 1 };
  const percent = Math.round(shown.alpha * 100);
  const written = color === undefined ? t('color.invalid') : undefined;
  return (
    <div class="color-field">
      <Field label={label} field={field} error={written}>
        {attributes => (
          <div class="color-row">
            <span class="color-well" style={{ '--color': color === undefined ? 'transparent' : value }}>
              <input
                type="color"
                aria-label={t('color.pick', { label })}
                value={hexOf(shown)}
                onInput={event => {
                  const picked = parseColor(event.currentTarget.value);
                  if (picked !== undefined) onValue(formatColor({ ...picked, alpha: shown.alpha }));
                }}
              />
            </span>
            <input
              {...attributes}
              type="text"
              class="mono"
              spellcheck={false}
              autocomplete="off"
              value={value}
              onInput={event => onValue(event.currentTarget.value)}
              onBlur={() => {
                if (color !== undefined && formatColor(color) !== value) onValue(formatColor(color));
              }}
            />
            <input
              type="range"
              min={0}
              max={100}
              step={5}
              aria-label={t('color.opacity', { label })}
              aria-valuetext={formatPercent(percent)}
              value={percent}
              onInput={event =>
                onValue(formatColor({ ...shown, alpha: Number(event.currentTarget.value) / 100 }))
              }
            />
            <span class="color-percent" aria-hidden="true">
              {formatPercent(percent)}
            </span>
          </div>
        )}
      </Field>
      {contrast !== undefined && (
        <p class="color-warning">
          <Icon name="warning" size={16} />
          {t('color.contrast', { contrast: formatNumber(contrast, 1) })}
        </p>
      )}
    </div>
  );
}
