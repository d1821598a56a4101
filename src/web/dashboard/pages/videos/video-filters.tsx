import { IconButton } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { SearchField } from '../../ui/form/search-field.tsx';
import { type ListChoice, type VideoOrder, videoOrders, writeTags } from './list-query.ts';
import { TagFilter } from './tag-filter.tsx';

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
      <search class="toolbar list-toolbar">
        <SearchField label="Search titles" search={choice.search} onSearch={search => choose({ search })} />
        {hasTags && <TagFilter chosen={tags} onChange={chooseTags} />}
        <SelectField<VideoOrder>
          label="Order"
          hideLabel
          value={order}
          onValue={next => choose({ order: next === 'newest' ? undefined : next })}
          options={Object.entries(videoOrders).map(([name, { label }]) => [name as VideoOrder, label])}
        />
      </search>
      {tags.length > 0 && (
        <ul class="tags-chosen" aria-label="Active tag filters">
          {tags.map(tag => (
            <li key={tag} class="tag-chosen">
              {tag}
              <IconButton
                icon="close"
                label={`Remove filter ${tag}`}
                onClick={() => chooseTags(tags.filter(other => other !== tag))}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
