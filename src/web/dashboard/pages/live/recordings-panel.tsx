import { useState } from 'preact/hooks';
import type { Broadcast, LiveStream, Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { isBroadcastChange } from '../../broadcasts/broadcast-stats.ts';
import { formatBitrate, formatNumber } from '../../format/size.ts';
import { formatDateTime, formatSpan } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { Badge } from '../../ui/badge.tsx';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Card } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { VideoThumbnail } from '../../ui/video/video-thumbnail.tsx';
import { formatEndReason, formatMedia } from './broadcast-labels.ts';

const pageSize = 10;

export function RecordingsPanel({ stream: { liveStreamId, record } }: { stream: LiveStream }) {
  const [videoPage, setVideoPage] = useState(1);
  const [broadcastPage, setBroadcastPage] = useState(1);
  const videos = useLoad(`${liveStreamId} ${videoPage}`, signal =>
    call('GET /videos', { query: { liveStreamId, currentPage: videoPage, pageSize }, signal }),
  );
  const broadcasts = useLoad(`${liveStreamId} ${broadcastPage}`, signal =>
    call('GET /live-streams/{liveStreamId}/broadcasts', {
      params: { liveStreamId },
      query: { currentPage: broadcastPage, pageSize },
      signal,
    }),
  );
  useFeed(message => {
    if (message.liveStreamId !== liveStreamId) return;
    if (isBroadcastChange(message)) broadcasts.reload();
    if (message.type.startsWith('video.')) videos.reload();
  });
  return (
    <div class="stack">
      <Card title="Recordings" flush>
        <LoadedContent loaded={videos} height={150}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <EmptyState icon="video" title="No recordings yet">
                {record === false
                  ? 'Recording is turned off for this live stream. Choose “Always record” in its settings to keep broadcasts.'
                  : 'When a broadcast ends, it becomes a video within seconds.'}
              </EmptyState>
            ) : (
              <>
                <Table
                  caption="Recordings"
                  columns={videoColumns}
                  rows={data}
                  keyOf={({ videoId }) => videoId}
                />
                <Pagination pagination={pagination} what="recordings" onPage={setVideoPage} />
              </>
            )
          }
        </LoadedContent>
      </Card>
      <Card title="Broadcasts" flush>
        <LoadedContent loaded={broadcasts} height={150}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <EmptyState icon="live" title="No broadcasts yet">
                Broadcasts of the last 30 days are listed here.
              </EmptyState>
            ) : (
              <>
                <Table
                  caption="Broadcasts"
                  columns={broadcastColumns}
                  rows={data}
                  keyOf={({ broadcastId }) => broadcastId}
                />
                <Pagination pagination={pagination} what="broadcasts" onPage={setBroadcastPage} />
              </>
            )
          }
        </LoadedContent>
      </Card>
    </div>
  );
}

const videoColumns: readonly Column<Video>[] = [
  {
    head: 'Recording',
    cell: video => (
      <a class="recording" href={`/dashboard/videos/${video.videoId}`}>
        <span class="recording-picture">
          <VideoThumbnail video={video} state={undefined} isSmall />
        </span>
        {titleOf(video)}
      </a>
    ),
  },
  { head: 'Recorded', cell: ({ createdAt }) => formatDateTime(createdAt) },
  { head: 'Visibility', cell: video => (video.public ? 'Public' : 'Private') },
];

const broadcastColumns: readonly Column<Broadcast>[] = [
  { head: 'Started', cell: ({ startedAt }) => formatDateTime(startedAt) },
  {
    head: 'Duration',
    cell: ({ startedAt, endedAt }) =>
      endedAt === undefined ? (
        <Badge tone="live">Live</Badge>
      ) : (
        formatSpan((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)
      ),
  },
  {
    head: 'End reason',
    cell: ({ endReason }) => (endReason === undefined ? 'In progress' : formatEndReason(endReason)),
  },
  { head: 'Video, audio', cell: broadcast => formatMedia(broadcast) ?? '–' },
  {
    head: 'Bitrate',
    isNumber: true,
    cell: ({ averageBitrateBitsPerSecond: rate }) => (rate === undefined ? '–' : formatBitrate(rate)),
  },
  {
    head: 'Connection lost',
    isNumber: true,
    cell: ({ droppedConnections: losses }) => (losses === undefined ? '–' : formatNumber(losses)),
  },
];
