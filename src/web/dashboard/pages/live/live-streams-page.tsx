import type { ComponentChildren } from 'preact';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { withBroadcastEnded } from '../../broadcasts/stream-state.ts';
import { useLiveNow } from '../../broadcasts/use-live-now.ts';
import { useThumbnailVersion } from '../../broadcasts/use-thumbnail-version.ts';
import { can } from '../../state/session.ts';
import { rich, t } from '../../texts/live.ts';
import { bold } from '../../ui/bold.tsx';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { SearchField } from '../../ui/form/search-field.tsx';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
import { Page } from '../../ui/page.tsx';
import { pageOf } from '../../ui/page-of.ts';
import { Pagination } from '../../ui/pagination.tsx';
import { EmptyState, LoadError } from '../../ui/states.tsx';
import { useListView, ViewSwitch } from '../../ui/view-switch.tsx';
import { CreateStreamDialog } from './create-stream-dialog.tsx';
import { StreamCard } from './stream-card.tsx';
import { orderOf, type StreamOrder, streamOrders } from './stream-orders.ts';
import { type StreamItem, StreamsTable } from './streams-table.tsx';

const pageSize = 24;

export function LiveStreamsPage() {
  const { query, change } = useQuery();
  const [isCreating, setCreating] = useNewDialog();
  const [view, setView] = useListView('live');
  const order = orderOf(query.sort);
  const search = query.search ?? '';
  const { loaded, items } = useStreams(order, search, pageOf(query));
  const choose = (next: StreamOrder | undefined) =>
    change({ sort: next === 'newest' ? undefined : next, page: undefined });
  const create = can('live') && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      {t('streams.new')}
    </Button>
  );
  const { value, problem } = loaded;
  const isEmpty = value !== undefined && items.length === 0;
  return (
    <Page title={t('streams.title')} actions={create}>
      {!(isEmpty && search === '' && query.page === undefined) && (
        <search class="toolbar list-toolbar">
          <SearchField
            label={t('streams.search')}
            search={search}
            onSearch={text => change({ search: text, page: undefined })}
          />
          <SelectField
            label={t('streams.order')}
            hideLabel
            value={order}
            onValue={choose}
            options={Object.entries(streamOrders).map(([name, { label }]) => [name as StreamOrder, t(label)])}
          />
          <ViewSwitch view={view} onView={setView} />
        </search>
      )}
      {problem !== undefined && <LoadError problem={problem} retry={loaded.reload} />}
      {value === undefined && problem === undefined && <ListSkeleton />}
      {value !== undefined && (
        <div class="shown list-body" aria-busy={loaded.isLoading}>
          {isEmpty ? (
            <NoStreams
              search={search}
              isFirst={query.page === undefined}
              action={create}
              onReset={() => change({ search: undefined, page: undefined })}
            />
          ) : view === 'list' ? (
            <StreamsTable
              items={items}
              sort={{
                field: streamOrders[order].sortBy,
                direction: streamOrders[order].sortOrder,
                onSort: (field, direction) =>
                  choose(
                    (Object.keys(streamOrders) as StreamOrder[]).find(
                      name =>
                        streamOrders[name].sortBy === field && streamOrders[name].sortOrder === direction,
                    ),
                  ),
              }}
            />
          ) : (
            <ul class="stream-grid">
              {items.map(item => (
                <StreamCard key={item.stream.liveStreamId} item={item} />
              ))}
            </ul>
          )}
          <Pagination pagination={value.pagination} what="liveStreams" scrollsUp />
        </div>
      )}
      {isCreating && can('live') && <CreateStreamDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

interface StreamPage {
  readonly data: readonly LiveStream[];
  readonly pagination: Parameters<typeof Pagination>[0]['pagination'];
}

/** Live streams that are live come first: on the first page also those of other pages, unless a search leaves them out. */
function useStreams(
  order: StreamOrder,
  search: string,
  currentPage: number,
): { readonly loaded: Loaded<StreamPage>; readonly items: readonly StreamItem[] } {
  const { sortBy, sortOrder } = streamOrders[order];
  const loaded = useLoad<StreamPage>(JSON.stringify([order, search, currentPage]), signal =>
    call('GET /live-streams', { query: { sortBy, sortOrder, name: search, currentPage, pageSize }, signal }),
  );
  const listed = loaded.value?.data ?? [];
  const onTurn = (endedId?: string) => {
    const { value } = loaded;
    if (endedId !== undefined && value !== undefined) {
      loaded.set({ ...value, data: withBroadcastEnded(value.data, endedId) });
    }
    loaded.reload();
  };
  const live = useLiveNow(listed, onTurn, listed.length === 0 || currentPage > 1 || search !== '');
  useFeed(({ type }) => {
    // A broadcast has a recording some time after its end.
    if (['hello', 'gap', 'video.source.recorded'].includes(type)) loaded.reload();
  });
  const round = useThumbnailVersion(live.length > 0);
  const others = listed
    .filter(stream => live.every(one => one.stream !== stream))
    .map(stream => ({ stream, stats: undefined }));
  return { loaded, items: [...live, ...others].map(item => ({ ...item, round })) };
}

function NoStreams({
  search,
  isFirst,
  action,
  onReset,
}: {
  search: string;
  isFirst: boolean;
  action: ComponentChildren;
  onReset: () => void;
}) {
  if (search === '' && isFirst) return <FirstStream action={action} />;
  return (
    <EmptyState
      icon="search"
      title={t('streams.noResults')}
      action={<Button onClick={onReset}>{t('streams.showAll')}</Button>}
    >
      {search === '' ? t('streams.emptyPage') : t('streams.noMatch', { search })}
    </EmptyState>
  );
}

function FirstStream({ action }: { action: ComponentChildren }) {
  if (!can('live')) return <EmptyState icon="live" title={t('streams.none')} />;
  return (
    <div class="card first-stream">
      <EmptyState icon="live" title={t('streams.firstTitle')} action={action} />
      <ol class="steps">
        <li>{rich('streams.firstCreate', {}, bold)}</li>
        <li>{rich('streams.firstEncoder', {}, bold)}</li>
        <li>{rich('streams.firstStart', {}, bold)}</li>
      </ol>
    </div>
  );
}
