import { readStored, writeStored } from '../state/local-storage.ts';
import { t } from '../texts/shell.ts';
import { useQuery } from './hooks/use-query.ts';
import { Icon } from './icon.tsx';

export type ListView = 'list' | 'grid';

const views = ['list', 'grid'] as const;

/** The view is in the address, and remembered for the next visit. @param list such as `videos` */
export function useListView(list: string): readonly [ListView, (view: ListView) => void] {
  const { query, change } = useQuery();
  const wanted = query.view ?? readStored(`${list}.view`);
  return [
    wanted === 'grid' ? 'grid' : 'list',
    view => {
      writeStored(`${list}.view`, view);
      change({ view });
    },
  ];
}

export function ViewSwitch({ view, onView }: { view: ListView; onView: (view: ListView) => void }) {
  return (
    <fieldset class="view-switch">
      <legend class="for-readers">{t('list.view')}</legend>
      {views.map(name => (
        <button
          key={name}
          type="button"
          class="icon-button"
          title={t(`list.as.${name}`)}
          aria-label={t(`list.as.${name}`)}
          aria-pressed={view === name}
          onClick={() => onView(name)}
        >
          <Icon name={name} size={19} />
        </button>
      ))}
    </fieldset>
  );
}
