export function Bars({
  label,
  rows,
  format,
}: {
  label: string;
  rows: readonly {
    readonly name: string;
    readonly value: number;
    readonly id?: string;
    readonly href?: string | undefined;
    readonly title?: string | undefined;
  }[];
  format: (value: number) => string;
}) {
  const largest = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <ul class="bars" aria-label={label}>
      {rows.map(({ name, value, id = name, href, title }) => (
        <li key={id} title={title}>
          <span class="bar" style={{ width: `${(100 * value) / largest}%` }} aria-hidden="true" />
          <span class="bar-name">{href === undefined ? name : <a href={href}>{name}</a>}</span>
          <span class="bar-value">{format(value)}</span>
        </li>
      ))}
    </ul>
  );
}
