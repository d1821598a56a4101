import type { ComponentChildren } from 'preact';
import { call } from '../../api/client.ts';
import { withBroadcastEnded } from '../../broadcasts/stream-state.ts';
import { useBroadcasts } from '../../broadcasts/use-broadcasts.ts';
import { useThumbnailVersion } from '../../broadcasts/use-thumbnail-version.ts';
import { can } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { SearchField } from '../../ui/form/search-field.tsx';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { CreateStreamDialog } from './create-stream-dialog.tsx';
import { StreamCard } from './stream-card.tsx';

const pageSize = 24;

const orders = {
  newest: { sortBy: 'createdAt', sortOrder: 'desc' },
  oldest: { sortBy: 'createdAt', sortOrder: 'asc' },
  changed: { sortBy: 'updatedAt', sortOrder: 'desc' },
  name: { sortBy: 'name', sortOrder: 'asc' },
} as const;

type Order = keyof typeof orders;

export function LiveStreamsPage() {
  const { query, change } = useQuery();
  const [isCreating, setCreating] = useNewDialog();
  const order: Order = Object.hasOwn(orders, query.sort ?? '') ? (query.sort as Order) : 'newest';
  const search = query.search ?? '';
  const currentPage = Math.max(1, Math.trunc(Number(query.page)) || 1);
  const loaded = useLoad(JSON.stringify([order, search, currentPage]), signal =>
    call('GET /live-streams', {
      query: { ...orders[order], name: search, currentPage, pageSize },
      signal,
    }),
  );
  const onAir = useBroadcasts(endedId => {
    const { value } = loaded;
    if (endedId !== undefined && value !== undefined) {
      loaded.set({ ...value, data: withBroadcastEnded(value.data, endedId) });
    }
    loaded.reload();
  });
  useFeed(({ type }) => {
    if (type === 'hello' || type === 'gap') loaded.reload();
  });
  const round = useThumbnailVersion(onAir.size > 0);
  const create = can('live') && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      New live stream
    </Button>
  );
  return (
    <Page title="Live streams" actions={create}>
      <search class="toolbar list-toolbar">
        <SearchField
          label="Search names"
          search={search}
          onSearch={text => change({ search: text, page: undefined })}
        />
        <SelectField
          label="Order"
          hideLabel
          value={order}
          onValue={sort => change({ sort: sort === 'newest' ? undefined : sort, page: undefined })}
          options={[
            ['newest', 'Newest first'],
            ['oldest', 'Oldest first'],
            ['changed', 'Recently updated'],
            ['name', 'Name, A to Z'],
          ]}
        />
      </search>
      <LoadedContent loaded={loaded} height={360}>
        {({ data, pagination }) => {
          if (data.length === 0 && search === '' && currentPage === 1) return <FirstStream action={create} />;
          if (data.length === 0) {
            return (
              <EmptyState
                icon="search"
                title="No results"
                action={
                  <Button onClick={() => change({ search: undefined, page: undefined })}>
                    Show all live streams
                  </Button>
                }
              >
                No live stream has “{search}” in its name.
              </EmptyState>
            );
          }
          return (
            <>
              <ul class="stream-grid">
                {data.map(stream => (
                  <StreamCard
                    key={stream.liveStreamId}
                    stream={stream}
                    stats={onAir.get(stream.liveStreamId)}
                    round={round}
                  />
                ))}
              </ul>
              <Pagination
                pagination={pagination}
                what="live streams"
                onPage={page => change({ page: page === 1 ? undefined : String(page) })}
              />
            </>
          );
        }}
      </LoadedContent>
      {isCreating && can('live') && <CreateStreamDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

function FirstStream({ action }: { action: ComponentChildren }) {
  if (!can('live')) return <EmptyState icon="live" title="No live streams yet" />;
  return (
    <div class="card first-stream">
      <EmptyState icon="live" title="Go live in three steps" action={action} />
      <ol class="steps">
        <li>
          <strong>Create a live stream.</strong> It has its own stream key, which doesn’t change.
        </li>
        <li>
          <strong>Enter the server and stream key in your encoder,</strong> such as OBS Studio. You’ll find
          both on the live stream’s page.
        </li>
        <li>
          <strong>Start streaming.</strong> The page shows your video within seconds, with links to share.
        </li>
      </ol>
    </div>
  );
}
