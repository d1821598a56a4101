import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { formatNumber } from '../../format/size.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/form/field.tsx';
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
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLFieldSetElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (isOpen) root.current?.querySelector('input')?.focus();
  }, [isOpen]);
  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = ({ target }: Event) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
    };
  }, [isOpen]);
  return (
    <fieldset
      class="tag-filter"
      ref={root}
      onKeyDown={event => {
        if (event.key !== 'Escape' || !isOpen) return;
        setOpen(false);
        root.current?.querySelector('button')?.focus();
      }}
    >
      <legend class="for-readers">Filter by tag</legend>
      <Button
        icon="tag"
        expanded={isOpen}
        controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {chosen.length === 0 ? 'Tags' : `Tags (${chosen.length})`}
      </Button>
      {isOpen && <TagList id={id} chosen={chosen} onChange={onChange} />}
    </fieldset>
  );
}

function TagList({
  id,
  chosen,
  onChange,
}: {
  id: string;
  chosen: readonly string[];
  onChange: (tags: readonly string[]) => void;
}) {
  const [search, setSearch] = useState('');
  const loaded = useLoad(`tags ${search}`, signal =>
    call('GET /tags', {
      query: { value: search.trim() || undefined, sortBy: 'videoCount', sortOrder: 'desc', pageSize: 50 },
      signal,
    }),
  );
  const total = loaded.value?.pagination.itemsTotal ?? 0;
  return (
    <div class="tag-list" id={id}>
      {(search !== '' || total >= searchFrom) && (
        <TextField
          label="Search tags"
          hideLabel
          type="search"
          placeholder="Search tags"
          value={search}
          onValue={setSearch}
        />
      )}
      <LoadedContent loaded={loaded} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">
              {search === '' ? 'No tags yet. Add tags on the page of a video.' : 'No results.'}
            </p>
          ) : (
            <ul>
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
