import type { ComponentChildren, VNode } from 'preact';
import { formatTime } from '../../../shared/time-text.ts';
import type { LiveStream } from '../../api/api-types.ts';
import type { BroadcastStats } from '../../broadcasts/broadcast-stats.ts';
import { StreamBadge } from '../../broadcasts/stream-badge.tsx';
import { streamStateOf } from '../../broadcasts/stream-state.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { formatNumber } from '../../format/size.ts';
import { formatDate, formatDateTime } from '../../format/time.ts';
import { rich, t } from '../../texts/live.ts';
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
      caption={t('streams.title')}
      rows={items}
      keyOf={({ stream }) => stream.liveStreamId}
      columns={columnsOf()}
      sort={sort}
    />
  );
}

export function liveFor({ durationSeconds }: BroadcastStats): ComponentChildren {
  const time = formatTime(durationSeconds);
  return wordsForReaders(rich('streams.liveFor', { time }, { t: text => <>{text}</> }));
}

/** Shows what is in tags of a message, and has the rest for screen readers. */
export function wordsForReaders(parts: readonly (string | VNode)[]): ComponentChildren {
  return parts.map(part =>
    typeof part === 'string' ? (
      <span key={part} class="for-readers">
        {part}
      </span>
    ) : (
      part
    ),
  );
}

export function restreamsText({ restreams }: Pick<LiveStream, 'restreams'>): string | undefined {
  const { length } = restreams.filter(({ enabled = true }) => enabled);
  return length === 0 ? undefined : t('streams.restreams', { count: length });
}

function columnsOf(): readonly Column<StreamItem>[] {
  return [
    {
      head: t('streams.nameLabel'),
      look: 'cell-media',
      sort: { field: 'name', direction: 'asc' },
      cell: item => <NameCell item={item} />,
    },
    {
      head: t('streams.status'),
      look: 'cell-status',
      cell: ({ stream, stats }) => (
        <div class="status-cell">
          <StreamBadge state={streamStateOf(stream.broadcasting, stats)} />
          {stats !== undefined && <span class="cell-note number">{liveFor(stats)}</span>}
        </div>
      ),
    },
    {
      head: t('streams.viewers'),
      isNumber: true,
      look: 'cell-viewers',
      cell: ({ stats }) =>
        stats === undefined ? <span class="nothing">–</span> : formatNumber(stats.viewers),
    },
    {
      head: t('streams.visibility'),
      look: 'cell-visibility',
      cell: ({ stream }) => <Visibility isPublic={stream.public} isListed={stream.listed} />,
    },
    {
      head: t('streams.lastBroadcast'),
      look: 'cell-broadcast',
      cell: ({ stream: { lastBroadcast }, stats }) => {
        if (stats !== undefined) return t('past.inProgress');
        if (lastBroadcast === undefined) return <span class="nothing">–</span>;
        return <RelativeTime time={lastBroadcast.endedAt ?? lastBroadcast.startedAt} />;
      },
    },
    {
      head: t('streams.recordings'),
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
      head: t('streams.created'),
      look: 'cell-date',
      sort: { field: 'createdAt', direction: 'desc' },
      cell: ({ stream: { createdAt } }) => (
        <time dateTime={createdAt} title={formatDateTime(createdAt)}>
          {formatDate(createdAt)}
        </time>
      ),
    },
    { head: t('streams.actions'), isActions: true, cell: ({ stream }) => <StreamMenu stream={stream} /> },
  ];
}

function NameCell({ item: { stream, stats, round } }: { item: StreamItem }) {
  const { liveStreamId, name, assets, updatedAt, source } = stream;
  const isOff = streamStateOf(stream.broadcasting, stats) === 'off';
  const notes = [
    source === undefined ? undefined : source.enabled ? t('streams.pulled') : t('streams.sourceOff'),
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
