import type { ComponentChildren } from 'preact';
import { t } from '../../texts/videos.ts';

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
  statuses,
  type VideoOrder,
  videoOrders,
  visibilities,
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
        <SearchField
          label={t('filter.searchTitles')}
          search={choice.search}
          onSearch={search => choose({ search })}
        />
        <SelectField<VideoOrder>
          label={t('filter.order')}
          hideLabel
          value={order}
          onValue={next => choose({ order: next === 'newest' ? undefined : next })}
          options={(Object.keys(videoOrders) as VideoOrder[]).map(
            name => [name, t(`filter.orders.${name}`)] as const,
          )}
        />
        {children}
      </div>
      {!isTrash && (
        <div class="filter-chips">
          <ChoiceFilter
            name={t('videos.head.status')}
            value={choice.status}
            options={[
              [undefined, t('filter.anyStatus')],
              ...statuses.map(one => [one, t(`filter.statuses.${one}`)] as const),
            ]}
            onValue={status => choose({ status })}
          />
          <ChoiceFilter
            name={t('videos.head.visibility')}
            value={choice.visibility}
            options={[
              [undefined, t('filter.anyVisibility')],
              ...visibilities.map(one => [one, t(`filter.visibilities.${one}`)] as const),
            ]}
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
                label={t('filter.remove', { tag })}
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
              <span>{t('filter.failed', { count: failed })}</span>
            </button>
          )}
          {isFiltered(choice) && (
            <Button small kind="quiet" onClick={() => onChange(noFilters)}>
              {t('filter.clear')}
            </Button>
          )}
        </div>
      )}
    </search>
  );
}
