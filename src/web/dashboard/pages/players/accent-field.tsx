import { useState } from 'preact/hooks';
import { formatColor, parseColor } from './color.ts';
import { ColorField } from './color-field.tsx';

/** The API's default of `trackPlayed`. It leaves the player its own accent color. */
const unchanged = 'rgba(88, 131, 255, .95)';

const presets: readonly { readonly label: string; readonly value: string; readonly shown?: string }[] = [
  { label: 'Default', value: unchanged, shown: '#5fd4bd' },
  { label: 'Sky', value: 'rgba(94, 180, 255, 1)' },
  { label: 'Violet', value: 'rgba(167, 139, 250, 1)' },
  { label: 'Pink', value: 'rgba(244, 114, 182, 1)' },
  { label: 'Red', value: 'rgba(248, 113, 113, 1)' },
  { label: 'Orange', value: 'rgba(251, 146, 60, 1)' },
  { label: 'Yellow', value: 'rgba(250, 204, 21, 1)' },
  { label: 'Green', value: 'rgba(74, 222, 128, 1)' },
  { label: 'White', value: 'rgba(255, 255, 255, 1)' },
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
        <legend class="for-readers">Accent color</legend>
        {presets.map(entry => (
          <label key={entry.label} class="accent">
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
            {entry.label}
          </label>
        ))}
        <label class="accent">
          <input type="radio" name="accent" checked={isCustom} onChange={() => setWantsOther(true)} />
          <span class="accent-swatch is-custom" />
          Custom
        </label>
      </fieldset>
      {isCustom && (
        <ColorField
          label="Custom color"
          value={value}
          contrast={undefined}
          field="trackPlayed"
          onValue={onValue}
        />
      )}
    </div>
  );
}
