/** A share of something that is in use. */
export function Meter({
  name,
  valueText,
  percent,
  isBad = false,
}: {
  name: string;
  valueText: string;
  percent: number;
  isBad?: boolean;
}) {
  const shown = Math.round(Math.min(100, Math.max(0, percent)));
  return (
    <div class={`meter${isBad ? ' bad' : ''}`}>
      <span>{name}</span>
      <span class="meter-label number">{valueText}</span>
      <meter
        class="for-readers"
        aria-label={name}
        aria-valuetext={valueText}
        min={0}
        max={100}
        value={shown}
      />
      <div class="meter-bar" aria-hidden="true">
        <span style={{ width: `${shown}%` }} />
      </div>
    </div>
  );
}
