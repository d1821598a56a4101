/** @param percent 0 to 100, for the bar */
export function Meter({
  name,
  words,
  percent,
  isBad = false,
}: {
  name: string;
  words: string;
  percent: number;
  isBad?: boolean;
}) {
  const shown = Math.round(Math.min(100, Math.max(0, percent)));
  return (
    <div class={`meter${isBad ? ' bad' : ''}`}>
      <span>{name}</span>
      <span class="meter-words number">{words}</span>
      <meter class="for-readers" aria-label={name} aria-valuetext={words} min={0} max={100} value={shown} />
      <div class="meter-bar" aria-hidden="true">
        <span style={{ width: `${shown}%` }} />
      </div>
    </div>
  );
}
