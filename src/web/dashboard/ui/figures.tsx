import type { ComponentChildren } from 'preact';

export type Figure = readonly [name: string, value: ComponentChildren];

/** Numbers side by side, each below its name. */
export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
