import type { ComponentChildren } from 'preact';

/** `text` is no number, and has a row of its own. */
export type Figure = readonly [name: string, value: ComponentChildren, kind?: 'text'];

/** Numbers side by side, each below its name. */
export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(([name, value, kind]) => (
        <div key={name} class={kind && 'is-text'}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
