import { t } from '../../texts/search.ts';
import { Icon } from '../../ui/icon.tsx';
import type { PaletteEntry, PaletteGroup } from './entry.ts';

/** The focus stays in the field, which names the active option. */
export function PaletteResults({
  id,
  groups,
  active,
  optionId,
  onHover,
  onChoose,
}: {
  id: string;
  groups: readonly PaletteGroup[];
  active: PaletteEntry | undefined;
  optionId: (entry: PaletteEntry) => string;
  onHover: (entry: PaletteEntry) => void;
  onChoose: (entry: PaletteEntry, isInNewTab: boolean) => void;
}) {
  return (
    <div class="palette-results" role="listbox" id={id} aria-label={t('search.results')} tabIndex={-1}>
      {groups.map(({ title, entries }, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a listbox has no other groups
        <div key={title} role="group" aria-labelledby={`${id}-${index}`}>
          <p class="palette-title" id={`${id}-${index}`}>
            {title}
          </p>
          {entries.map(entry => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
            <div
              key={entry.id}
              id={optionId(entry)}
              role="option"
              tabIndex={-1}
              class="palette-option"
              aria-selected={entry === active}
              data-leaves={entry.leaves || entry.href?.startsWith('/dashboard') ? '' : undefined}
              // Keeps the focus in the field.
              onPointerDown={event => event.preventDefault()}
              onPointerMove={() => onHover(entry)}
              onClick={({ ctrlKey, metaKey }) => onChoose(entry, ctrlKey || metaKey)}
            >
              <Icon name={entry.icon} size={18} />
              <bdi class="palette-label">{entry.label}</bdi>
              {entry.detail !== undefined && <span class="palette-detail">{entry.detail}</span>}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
