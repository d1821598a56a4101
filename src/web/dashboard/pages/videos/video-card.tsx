import type { Video } from '../../api/api-types.ts';
import { formatDateTime, formatRelative } from '../../format/time.ts';
import { isAudioOnly } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import { t } from '../../texts/videos.ts';
import { Icon } from '../../ui/icon.tsx';
import { Progress } from '../../ui/progress.tsx';
import { type RowSelection, SelectRow } from '../../ui/table.tsx';
import { VideoBadge } from '../../ui/video/video-badge.tsx';
import { VideoThumbnail } from '../../ui/video/video-thumbnail.tsx';
import { VideoTitle } from '../../ui/video/video-title.tsx';
import { shownStateOf } from './shown-state.ts';
import { addressOf, playsText, Tags, type VideoActions, type VideoItem, VideoMenu } from './video-row.tsx';
import { durationText, sizeText } from './video-table.tsx';

export function VideoCard({
  item,
  selection,
  actions,
}: {
  item: VideoItem;
  selection: RowSelection<Video> | undefined;
  actions: VideoActions;
}) {
  const { video, status, plays } = item;
  const title = titleOf(video);
  const state = shownStateOf(video, status);
  const duration = durationText(status?.encoding.metadata.duration);
  const details = [
    plays === undefined ? undefined : t('videos.plays', { count: plays, plays: playsText(plays) }),
    formatRelative(video.createdAt),
    sizeText(status?.ingest?.filesize),
    video.expiresAt === undefined
      ? undefined
      : t('videos.expires', { time: formatRelative(video.expiresAt) }),
  ].filter(detail => detail !== undefined);
  return (
    <li class={`video-card${selection?.has(video) === true ? ' selected' : ''}`}>
      <div class="video-picture">
        <VideoThumbnail video={video} state={state} isAudioOnly={status !== undefined && isAudioOnly(status)}>
          {state !== undefined && state.kind !== 'ready' && (
            <span class="video-state">
              <VideoBadge state={state} />
            </span>
          )}
        </VideoThumbnail>
        {selection !== undefined && <SelectRow row={video} selection={selection} />}
        {duration !== undefined && <span class="video-duration">{duration}</span>}
      </div>
      <div class="video-progress">
        {state?.percent !== undefined && (
          <Progress percent={state.percent} label={t('videos.progress', { title })} />
        )}
      </div>
      <div class="video-text">
        <div class="video-head">
          <h2>
            <a href={addressOf(video)} dir="auto">
              <VideoTitle video={video} />
            </a>
          </h2>
          <VideoMenu item={item} actions={actions} />
        </div>
        <p class="video-details" title={formatDateTime(video.createdAt)}>
          {!video.public && (
            <span class="video-private">
              <Icon name="lock" size={14} /> {t('videos.private')} ·{' '}
            </span>
          )}
          {details.join(' · ')}
        </p>
        {state?.failure !== undefined && (
          <p class="field-error">
            <bdi>{state.failure}</bdi>
          </p>
        )}
        <Tags tags={video.tags} onTag={actions.onTag} />
      </div>
    </li>
  );
}
