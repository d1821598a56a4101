import type { ComponentChildren } from 'preact';
import { formatNumber } from '../../format/size.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { ChoiceFilter } from '../../ui/filter-popover.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { SearchField } from '../../ui/form/search-field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { DateFilter } from './date-filter.tsx';
import {
  isFiltered,
  type ListChoice,
  noFilters,
  statusLabels,
  type VideoOrder,
  videoOrders,
  visibilityLabels,
  writeTags,
} from './list-query.ts';
import { SourceFilter } from './source-filter.tsx';
import { TagFilter } from './tag-filter.tsx';

export type Changes = Readonly<Record<string, string | undefined>>;

export function VideoFilters({
  choice,
  isTrash = false,
  failed = 0,
  onChange,
  children,
}: {
  choice: ListChoice;
  isTrash?: boolean;
  /** Failed videos of the project. */
  failed?: number;
  onChange: (changes: Changes) => void;
  /** Content beside the order. */
  children?: ComponentChildren;
}) {
  const { tags, order } = choice;
  const choose = (changes: Changes) => onChange({ ...changes, page: undefined });
  const chooseTags = (next: readonly string[]) => choose({ tags: writeTags(next) });
  return (
    <search class="list-filters">
      <div class="toolbar list-toolbar">
        <SearchField label="Search titles" search={choice.search} onSearch={search => choose({ search })} />
        <SelectField<VideoOrder>
          label="Order"
          hideLabel
          value={order}
          onValue={next => choose({ order: next === 'newest' ? undefined : next })}
          options={Object.entries(videoOrders).map(([name, { label }]) => [name as VideoOrder, label])}
        />
        {children}
      </div>
      {!isTrash && (
        <div class="filter-chips">
          <ChoiceFilter
            name="Status"
            value={choice.status}
            options={optionsOf('Any status', statusLabels)}
            onValue={status => choose({ status })}
          />
          <ChoiceFilter
            name="Visibility"
            value={choice.visibility}
            options={optionsOf('Any visibility', visibilityLabels)}
            onValue={visibility => choose({ visibility })}
          />
          <SourceFilter value={choice.source} onValue={source => choose({ source })} />
          <TagFilter chosen={tags} onChange={chooseTags} />
          <DateFilter value={choice.date} onValue={date => choose({ date })} />
          {tags.map(tag => (
            <span key={tag} class="tag-chosen">
              <bdi>{tag}</bdi>
              <IconButton
                icon="close"
                label={`Remove filter ${tag}`}
                onClick={() => chooseTags(tags.filter(other => other !== tag))}
              />
            </span>
          ))}
          {failed > 0 && choice.status !== 'failed' && (
            <button
              type="button"
              class="filter-chip failed-note"
              onClick={() => onChange({ ...noFilters, status: 'failed' })}
            >
              <Icon name="warning" size={15} />
              <span>{formatNumber(failed)} failed</span>
            </button>
          )}
          {isFiltered(choice) && (
            <Button small kind="quiet" onClick={() => onChange(noFilters)}>
              Clear filters
            </Button>
          )}
        </div>
      )}
    </search>
  );
}

function optionsOf<Labels extends Readonly<Record<string, string>>>(any: string, labels: Labels) {
  const options = Object.entries(labels) as [keyof Labels & string, string][];
  return [[undefined, any] as const, ...options];
}
