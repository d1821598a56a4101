import { useState } from 'preact/hooks';
import { formatTime } from '../../../shared/time-text.ts';
import type { Broadcast, LiveStream, Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { isBroadcastChange } from '../../broadcasts/broadcast-stats.ts';
import { formatBitrate, formatNumber } from '../../format/size.ts';
import { formatDateTime } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { t } from '../../texts/live.ts';
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
      <Card title={t('streams.recordings')} flush>
        <LoadedContent loaded={videos} height={150}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <EmptyState icon="video" title={t('past.noRecordings')}>
                {record === false ? t('past.recordingOff') : t('past.recordingOn')}
              </EmptyState>
            ) : (
              <>
                <Table
                  caption={t('streams.recordings')}
                  columns={videoColumns()}
                  rows={data}
                  keyOf={({ videoId }) => videoId}
                />
                <Pagination pagination={pagination} what="recordings" onPage={setVideoPage} />
              </>
            )
          }
        </LoadedContent>
      </Card>
      <Card title={t('past.broadcasts')} flush>
        <LoadedContent loaded={broadcasts} height={150}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <EmptyState icon="live" title={t('past.noBroadcasts')}>
                {t('past.noBroadcastsText')}
              </EmptyState>
            ) : (
              <>
                <Table
                  caption={t('past.broadcasts')}
                  columns={broadcastColumns()}
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

function videoColumns(): readonly Column<Video>[] {
  return [
    {
      head: t('past.recording'),
      cell: video => (
        <a class="recording" href={`/dashboard/videos/${video.videoId}`}>
          <span class="recording-picture">
            <VideoThumbnail video={video} state={undefined} isSmall />
          </span>
          {titleOf(video)}
        </a>
      ),
    },
    { head: t('past.recorded'), cell: ({ createdAt }) => formatDateTime(createdAt) },
    { head: t('streams.visibility'), cell: video => (video.public ? t('past.public') : t('past.private')) },
  ];
}

function broadcastColumns(): readonly Column<Broadcast>[] {
  return [
    { head: t('past.started'), cell: ({ startedAt }) => formatDateTime(startedAt) },
    {
      head: t('past.duration'),
      cell: ({ startedAt, endedAt }) =>
        endedAt === undefined ? (
          <Badge tone="live">{t('past.live')}</Badge>
        ) : (
          formatTime((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)
        ),
    },
    {
      head: t('past.endReason'),
      cell: ({ endReason }) => (endReason === undefined ? t('past.inProgress') : formatEndReason(endReason)),
    },
    { head: t('past.media'), cell: broadcast => formatMedia(broadcast) ?? '–' },
    {
      head: t('live.bitrate'),
      isNumber: true,
      cell: ({ averageBitrateBitsPerSecond: rate }) => (rate === undefined ? '–' : formatBitrate(rate)),
    },
    {
      head: t('past.connectionLost'),
      isNumber: true,
      cell: ({ droppedConnections: losses }) => (losses === undefined ? '–' : formatNumber(losses)),
    },
  ];
}
