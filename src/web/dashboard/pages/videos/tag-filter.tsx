import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { formatNumber } from '../../format/size.ts';
import { t } from '../../texts/videos.ts';
import { FilterPopover } from '../../ui/filter-popover.tsx';
import { SearchField } from '../../ui/form/search-field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { LoadedContent } from '../../ui/states.tsx';

const searchFrom = 8;

export function TagFilter({
  chosen,
  onChange,
}: {
  chosen: readonly string[];
  onChange: (tags: readonly string[]) => void;
}) {
  return (
    <FilterPopover
      legend={t('filter.byTag')}
      label={chosen.length === 0 ? t('filter.tags') : t('filter.tagsCount', { count: chosen.length })}
      isActive={chosen.length > 0}
    >
      {() => <TagList chosen={chosen} onChange={onChange} />}
    </FilterPopover>
  );
}

function TagList({
  chosen,
  onChange,
}: {
  chosen: readonly string[];
  onChange: (tags: readonly string[]) => void;
}) {
  const [search, setSearch] = useState('');
  const loaded = useLoad(`tags ${search}`, signal =>
    call('GET /tags', {
      query: { value: search || undefined, sortBy: 'videoCount', sortOrder: 'desc', pageSize: 50 },
      signal,
    }),
  );
  const total = loaded.value?.pagination.itemsTotal ?? 0;
  return (
    <div class="filter-tags">
      {(search !== '' || total >= searchFrom) && (
        <SearchField label={t('filter.searchTags')} search={search} onSearch={setSearch} />
      )}
      <LoadedContent loaded={loaded} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">{search === '' ? t('filter.noTags') : t('filter.noResults')}</p>
          ) : (
            <ul class="filter-options">
              {data.map(({ value, videoCount }) => (
                <li key={value}>
                  <label>
                    <input
                      type="checkbox"
                      checked={chosen.includes(value)}
                      onChange={({ currentTarget }) =>
                        onChange(
                          currentTarget.checked ? [...chosen, value] : chosen.filter(tag => tag !== value),
                        )
                      }
                    />
                    <span class="tag-name">{value}</span>
                    <span class="quiet number">{formatNumber(videoCount)}</span>
                  </label>
                </li>
              ))}
            </ul>
          )
        }
      </LoadedContent>
    </div>
  );
}
