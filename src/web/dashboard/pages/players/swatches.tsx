import type { Player } from '../../api/api-types.ts';
import { type ColorName, colorGroups } from './theme-draft.ts';

const shown: readonly ColorName[] = ['trackPlayed', 'link', 'text', 'backgroundBottom', 'backgroundTop'];
const labels = new Map(
  colorGroups.flatMap(({ colors }) => colors).map(({ name, label }) => [name, label] as const),
);

export function Swatches({ player }: { player: Player }) {
  const words = shown.map(name => `${labels.get(name)}: ${player[name]}`).join(', ');
  return (
    <span class="swatches" role="img" aria-label={words} title={words}>
      {shown.map(name => (
        <span key={name} class="swatch">
          <span style={{ background: player[name] }} />
        </span>
      ))}
    </span>
  );
}
