import { useEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { type ListChoice, type VideoOrder, videoOrders, writeTags } from './list-query.ts';
import { TagFilter } from './tag-filter.tsx';

const typingMs = 250;

/** Search, tags and order of the list. Every change begins at the first page. */
export function VideoFilters({
  choice,
  hasTags = true,
  onChange,
}: {
  choice: ListChoice;
  hasTags?: boolean;
  onChange: (changes: Readonly<Record<string, string | undefined>>) => void;
}) {
  const { tags, order } = choice;
  const choose = (changes: Readonly<Record<string, string | undefined>>) =>
    onChange({ ...changes, page: undefined });
  const chooseTags = (next: readonly string[]) => choose({ tags: writeTags(next) });
  return (
    <>
      <search class="toolbar video-toolbar">
        <SearchField search={choice.search} onSearch={search => choose({ search })} />
        {hasTags && <TagFilter chosen={tags} onChange={chooseTags} />}
        <SelectField<VideoOrder>
          label="Order"
          hideLabel
          value={order}
          onValue={next => choose({ order: next === 'newest' ? undefined : next })}
          options={Object.entries(videoOrders).map(([name, { words }]) => [name as VideoOrder, words])}
        />
      </search>
      {tags.length > 0 && (
        <ul class="tags-chosen" aria-label="Tags that are filtered by">
          {tags.map(tag => (
            <li key={tag} class="tag-chosen">
              {tag}
              <IconButton
                icon="close"
                label={`Do not filter by ${tag}`}
                onClick={() => chooseTags(tags.filter(other => other !== tag))}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Asks when typing pauses, not for each letter. */
function SearchField({ search, onSearch }: { search: string; onSearch: (search: string) => void }) {
  const [text, setText] = useState(search);
  const asked = useRef(search);
  const latest = useRef(onSearch);
  latest.current = onSearch;
  useEffect(() => {
    // The address changed by other means: the way back, or a filter that was taken away.
    if (search !== asked.current) setText(search);
    asked.current = search;
  }, [search]);
  useEffect(() => {
    if (text === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = text;
      latest.current(text);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextField
      label="Search titles"
      hideLabel
      type="search"
      placeholder="Search titles"
      value={text}
      onValue={setText}
    />
  );
}
