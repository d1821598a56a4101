import { formatTime } from '../../../shared/time-text.ts';
import type { Video } from '../../api/api-types.ts';
import { formatBytes } from '../../format/size.ts';
import { formatDate, formatDateTime, formatRelative } from '../../format/time.ts';
import { t } from '../../texts/videos.ts';
import { type Column, type RowSelection, type SortDirection, Table } from '../../ui/table.tsx';
import { VideoTitle } from '../../ui/video/video-title.tsx';
import { Visibility } from '../../ui/visibility.tsx';
import type { VideoOrder } from './list-query.ts';
import { videoOrders } from './list-query.ts';
import {
  addressOf,
  ListThumbnail,
  playsText,
  Tags,
  type VideoActions,
  type VideoItem,
  VideoMenu,
  VideoStatusCell,
} from './video-row.tsx';

export function VideoTable({
  items,
  order,
  selection,
  actions,
  onOrder,
}: {
  items: readonly VideoItem[];
  order: VideoOrder;
  selection: RowSelection<Video> | undefined;
  actions: VideoActions;
  onOrder: (order: VideoOrder) => void;
}) {
  const { sortBy, sortOrder } = videoOrders[order];
  return (
    <Table
      look="media-table"
      caption={t('videos.title')}
      rows={items}
      keyOf={({ video }) => video.videoId}
      columns={columnsOf(order, actions)}
      sort={{
        field: sortBy,
        direction: sortOrder,
        onSort: (field, direction) => onOrder(orderOf(field, direction) ?? 'newest'),
      }}
      selection={
        selection && {
          has: ({ video }) => selection.has(video),
          labelOf: ({ video }) => selection.labelOf(video),
          onToggle: ({ video }, isSelected, isRange) => selection.onToggle(video, isSelected, isRange),
          onToggleAll: selection.onToggleAll,
        }
      }
    />
  );
}

function orderOf(field: string, direction: SortDirection): VideoOrder | undefined {
  return (Object.keys(videoOrders) as VideoOrder[]).find(
    order => videoOrders[order].sortBy === field && videoOrders[order].sortOrder === direction,
  );
}

function columnsOf(order: VideoOrder, actions: VideoActions): readonly Column<VideoItem>[] {
  const showsUpdates = order === 'changed';
  return [
    {
      head: t('videos.head.title'),
      look: 'cell-media',
      sort: { field: 'title', direction: 'asc' },
      cell: item => <MediaCell item={item} onTag={actions.onTag} />,
    },
    { head: t('videos.head.status'), look: 'cell-status', cell: item => <VideoStatusCell item={item} /> },
    {
      head: t('videos.head.visibility'),
      look: 'cell-visibility',
      cell: ({ video }) => <Visibility isPublic={video.public} isListed={video.listed} />,
    },
    {
      head: t('videos.head.duration'),
      isNumber: true,
      look: 'cell-duration',
      cell: ({ status }) =>
        durationText(status?.encoding.metadata.duration) ?? <span class="nothing">–</span>,
    },
    {
      head: t('videos.head.plays'),
      isNumber: true,
      sort: { field: 'plays', direction: 'desc' },
      cell: ({ plays }) => playsText(plays),
    },
    {
      head: t('videos.head.size'),
      isNumber: true,
      look: 'cell-size',
      cell: ({ status }) => sizeText(status?.ingest?.filesize) ?? <span class="nothing">–</span>,
    },
    {
      head: showsUpdates ? t('videos.head.updated') : t('videos.head.created'),
      look: 'cell-date',
      ...(showsUpdates ? {} : { sort: { field: 'createdAt', direction: 'desc' } }),
      cell: ({ video }) => {
        const time = showsUpdates ? video.updatedAt : video.createdAt;
        return (
          <>
            <time dateTime={time} title={formatDateTime(time)}>
              {formatDate(time)}
            </time>
            {video.expiresAt !== undefined && (
              <span class="cell-note" title={formatDateTime(video.expiresAt)}>
                {t('videos.expires', { time: formatRelative(video.expiresAt) })}
              </span>
            )}
          </>
        );
      },
    },
    {
      head: t('videos.head.actions'),
      isActions: true,
      cell: item => <VideoMenu item={item} actions={actions} />,
    },
  ];
}

function MediaCell({ item, onTag }: { item: VideoItem; onTag: (tag: string) => void }) {
  const { video } = item;
  return (
    <div class="media-cell">
      <span class="media-picture">
        <ListThumbnail item={item} />
      </span>
      <div class="media-text">
        <a class="media-title" href={addressOf(video)} dir="auto">
          <VideoTitle video={video} />
        </a>
        {video.description !== '' && (
          <span class="media-description" dir="auto">
            {video.description}
          </span>
        )}
        <Tags tags={video.tags} onTag={onTag} />
      </div>
    </div>
  );
}

export function durationText(seconds: number | null | undefined): string | undefined {
  return seconds == null ? undefined : formatTime(seconds);
}

export function sizeText(bytes: number | null | undefined): string | undefined {
  return bytes == null ? undefined : formatBytes(bytes);
}
