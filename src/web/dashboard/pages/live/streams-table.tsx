import { formatTime } from '../../../shared/time-text.ts';
import type { LiveStream } from '../../api/api-types.ts';
import type { BroadcastStats } from '../../broadcasts/broadcast-stats.ts';
import { StreamBadge } from '../../broadcasts/stream-badge.tsx';
import { streamStateOf } from '../../broadcasts/stream-state.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { formatNumber } from '../../format/size.ts';
import { formatDate, formatDateTime } from '../../format/time.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { type Column, Table, type TableSort } from '../../ui/table.tsx';
import { Visibility } from '../../ui/visibility.tsx';
import { StreamMenu } from './stream-menu.tsx';

/** A live stream of the list, with what the feed tells while it is live. */
export interface StreamItem {
  readonly stream: LiveStream;
  readonly stats: BroadcastStats | undefined;
  /** Changes when the thumbnail may have changed. */
  readonly round: number;
}

export function StreamsTable({ items, sort }: { items: readonly StreamItem[]; sort: TableSort }) {
  return (
    <Table
      look="media-table"
      caption="Live streams"
      rows={items}
      keyOf={({ stream }) => stream.liveStreamId}
      columns={columns}
      sort={sort}
    />
  );
}

export function restreamsText({ restreams }: Pick<LiveStream, 'restreams'>): string | undefined {
  const { length } = restreams.filter(({ enabled = true }) => enabled);
  return length === 0 ? undefined : length === 1 ? '1 restream' : `${length} restreams`;
}

const columns: readonly Column<StreamItem>[] = [
  {
    head: 'Name',
    look: 'cell-media',
    sort: { field: 'name', direction: 'asc' },
    cell: item => <NameCell item={item} />,
  },
  {
    head: 'Status',
    look: 'cell-status',
    cell: ({ stream, stats }) => (
      <div class="status-cell">
        <StreamBadge state={streamStateOf(stream.broadcasting, stats)} />
        {stats !== undefined && (
          <span class="cell-note number">
            <span class="for-readers">live for </span>
            {formatTime(stats.durationSeconds)}
          </span>
        )}
      </div>
    ),
  },
  {
    head: 'Viewers',
    isNumber: true,
    look: 'cell-viewers',
    cell: ({ stats }) => (stats === undefined ? <span class="nothing">–</span> : formatNumber(stats.viewers)),
  },
  {
    head: 'Visibility',
    look: 'cell-visibility',
    cell: ({ stream }) => <Visibility isPublic={stream.public} isListed={stream.listed} />,
  },
  {
    head: 'Last broadcast',
    look: 'cell-broadcast',
    cell: ({ stream: { lastBroadcast }, stats }) => {
      if (stats !== undefined) return 'Now';
      if (lastBroadcast === undefined) return <span class="nothing">–</span>;
      return <RelativeTime time={lastBroadcast.endedAt ?? lastBroadcast.startedAt} />;
    },
  },
  {
    head: 'Recordings',
    isNumber: true,
    look: 'cell-recordings',
    cell: ({ stream: { liveStreamId, recordings = 0 } }) =>
      recordings === 0 ? (
        <span class="nothing">–</span>
      ) : (
        <a href={`/dashboard/videos?source=${liveStreamId}`}>{formatNumber(recordings)}</a>
      ),
  },
  {
    head: 'Created',
    look: 'cell-date',
    sort: { field: 'createdAt', direction: 'desc' },
    cell: ({ stream: { createdAt } }) => (
      <time dateTime={createdAt} title={formatDateTime(createdAt)}>
        {formatDate(createdAt)}
      </time>
    ),
  },
  { head: 'Actions', isActions: true, cell: ({ stream }) => <StreamMenu stream={stream} /> },
];

function NameCell({ item: { stream, stats, round } }: { item: StreamItem }) {
  const { liveStreamId, name, assets, updatedAt, source } = stream;
  const isOff = streamStateOf(stream.broadcasting, stats) === 'off';
  const notes = [
    source === undefined ? undefined : source.enabled ? 'Pulled from a source' : 'Source turned off',
    restreamsText(stream),
  ].filter(note => note !== undefined);
  return (
    <div class="media-cell">
      <span class="media-picture">
        <img
          src={versionedUrl(assets.thumbnail, isOff ? updatedAt : round)}
          alt=""
          width={320}
          height={180}
          loading="lazy"
        />
      </span>
      <div class="media-text">
        <a class="media-title" href={`/dashboard/live/${liveStreamId}`} dir="auto">
          {name}
        </a>
        {notes.length > 0 && <span class="media-description">{notes.join(' · ')}</span>}
      </div>
    </div>
  );
}
