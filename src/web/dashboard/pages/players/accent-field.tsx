import { useState } from 'preact/hooks';
import { t } from '../../texts/players.ts';
import { formatColor, parseColor } from './color.ts';
import { ColorField } from './color-field.tsx';

/** The API's default of `trackPlayed`. It leaves the player its own accent color. */
const unchanged = 'rgba(88, 131, 255, .95)';

type AccentName = 'default' | 'sky' | 'violet' | 'pink' | 'red' | 'orange' | 'yellow' | 'green' | 'white';

const presets: readonly { readonly name: AccentName; readonly value: string; readonly shown?: string }[] = [
  { name: 'default', value: unchanged, shown: '#5fd4bd' },
  { name: 'sky', value: 'rgba(94, 180, 255, 1)' },
  { name: 'violet', value: 'rgba(167, 139, 250, 1)' },
  { name: 'pink', value: 'rgba(244, 114, 182, 1)' },
  { name: 'red', value: 'rgba(248, 113, 113, 1)' },
  { name: 'orange', value: 'rgba(251, 146, 60, 1)' },
  { name: 'yellow', value: 'rgba(250, 204, 21, 1)' },
  { name: 'green', value: 'rgba(74, 222, 128, 1)' },
  { name: 'white', value: 'rgba(255, 255, 255, 1)' },
];

/** Chooses the color of the seek bar and of what is selected. */
export function AccentField({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const color = parseColor(value);
  const canonical = color === undefined ? value : formatColor(color);
  const preset = presets.find(entry => entry.value === canonical);
  const [wantsOther, setWantsOther] = useState(false);
  const isCustom = wantsOther || preset === undefined;
  return (
    <div class="stack">
      <fieldset class="accents">
        <legend class="for-readers">{t('theme.accent')}</legend>
        {presets.map(entry => (
          <label key={entry.name} class="accent">
            <input
              type="radio"
              name="accent"
              checked={!isCustom && entry === preset}
              onChange={() => {
                setWantsOther(false);
                onValue(entry.value);
              }}
            />
            <span class="accent-swatch" style={{ background: entry.shown ?? entry.value }} />
            {t(`accent.preset.${entry.name}`)}
          </label>
        ))}
        <label class="accent">
          <input type="radio" name="accent" checked={isCustom} onChange={() => setWantsOther(true)} />
          <span class="accent-swatch is-custom" />
          {t('accent.custom')}
        </label>
      </fieldset>
      {isCustom && (
        <ColorField
          label={t('accent.customColor')}
          value={value}
          contrast={undefined}
          field="trackPlayed"
          onValue={onValue}
        />
      )}
    </div>
  );
}
