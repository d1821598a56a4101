import { useId } from 'preact/hooks';

export function SegmentedControl<Value extends string | number>({
  label,
  hideLabel = false,
  value,
  options,
  onValue,
}: {
  label: string;
  hideLabel?: boolean;
  value: Value;
  options: readonly (readonly [value: Value, optionLabel: string])[];
  onValue: (value: Value) => void;
}) {
  const group = useId();
  return (
    <fieldset class="choices">
      <legend class={hideLabel ? 'for-readers' : undefined}>{label}</legend>
      <div class="choices-row">
        {options.map(([option, optionLabel]) => (
          <label key={option}>
            <input type="radio" name={group} checked={option === value} onChange={() => onValue(option)} />
            <span>{optionLabel}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
