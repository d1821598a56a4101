/** Shares as bars, the largest first: what a breakdown shows. */
export function Bars({
  label,
  rows,
  format,
}: {
  label: string;
  rows: readonly { readonly name: string; readonly value: number }[];
  format: (value: number) => string;
}) {
  const largest = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <ul class="bars" aria-label={label}>
      {rows.map(({ name, value }) => (
        <li key={name}>
          <span class="bar" style={{ width: `${(100 * value) / largest}%` }} aria-hidden="true" />
          <span class="bar-name">{name}</span>
          <span class="bar-value">{format(value)}</span>
        </li>
      ))}
    </ul>
  );
}
