import { formatTime } from '../../../shared/time-text.ts';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { formatBytes } from '../../format/size.ts';
import { formatDateTime, formatRelative } from '../../format/time.ts';
import { isAudioOnly, type VideoState, videoStateOf } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import { can } from '../../state/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { copyText } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Progress } from '../../ui/progress.tsx';
import { VideoBadge } from '../../ui/video/video-badge.tsx';
import { VideoThumbnail } from '../../ui/video/video-thumbnail.tsx';
import { uploads } from '../../uploads/upload-store.ts';

const tagsShown = 3;

export function VideoCard({
  video,
  status,
  isSelected,
  onSelect,
  onTag,
  onDelete,
}: {
  video: Video;
  status: VideoStatus | undefined;
  isSelected: boolean;
  onSelect: (isSelected: boolean) => void;
  onTag: (tag: string) => void;
  onDelete: () => void;
}) {
  const { videoId, tags } = video;
  const title = titleOf(video);
  const address = `/dashboard/videos/${videoId}`;
  const state = stateOf(video, status);
  const expiry = video.expiresAt === undefined ? undefined : `expires ${formatRelative(video.expiresAt)}`;
  const details = [formatRelative(video.createdAt), sizeOf(status), expiry].filter(
    detail => detail !== undefined,
  );
  return (
    <li class={`video-card${isSelected ? ' selected' : ''}`}>
      <div class="video-picture">
        <VideoThumbnail video={video} state={state} isAudioOnly={status !== undefined && isAudioOnly(status)}>
          {state !== undefined && state.kind !== 'ready' && (
            <span class="video-state">
              <VideoBadge state={state} />
            </span>
          )}
        </VideoThumbnail>
        {can('upload') && (
          <input
            type="checkbox"
            class="video-select"
            aria-label={`Select ${title}`}
            checked={isSelected}
            onChange={event => onSelect(event.currentTarget.checked)}
          />
        )}
        <Duration status={status} />
      </div>
      <div class="video-progress">
        {state?.percent !== undefined && <Progress percent={state.percent} label={`Progress of ${title}`} />}
      </div>
      <div class="video-text">
        <div class="video-head">
          <h2>
            <a href={address}>{title}</a>
          </h2>
          <Menu
            label={`Actions for ${title}`}
            items={[
              {
                label: 'Copy link',
                icon: 'link',
                onClick: () => void copyText(video.assets?.player ?? '', 'Link'),
              },
              ...(can('upload')
                ? [{ label: 'Delete', icon: 'trash', danger: true, onClick: onDelete } as const]
                : []),
            ]}
          />
        </div>
        <p class="video-details" title={formatDateTime(video.createdAt)}>
          {!video.public && (
            <span class="video-private">
              <Icon name="lock" size={14} /> Private ·{' '}
            </span>
          )}
          {details.join(' · ')}
        </p>
        {state?.failure !== undefined && <p class="field-error">{state.failure}</p>}
        {tags.length > 0 && (
          <p class="video-tags">
            {tags.slice(0, tagsShown).map(tag => (
              <button key={tag} type="button" class="tag" onClick={() => onTag(tag)}>
                {tag}
              </button>
            ))}
            {tags.length > tagsShown && <Badge>+{tags.length - tagsShown}</Badge>}
          </p>
        )}
      </div>
    </li>
  );
}

/** Uploads of this page are ahead of the server's status. */
function stateOf(video: Video, status: VideoStatus | undefined): VideoState | undefined {
  const upload = uploads.value.find(({ videoId }) => videoId === video.videoId);
  if (upload !== undefined && ['sending', 'retrying', 'paused', 'interrupted'].includes(upload.state)) {
    return { kind: 'uploading', percent: Math.floor((100 * upload.sentBytes) / upload.fileBytes) };
  }
  const state = status === undefined ? undefined : videoStateOf(video, status);
  const isSent = upload?.state === 'processing' && (state?.kind === 'empty' || state?.kind === 'uploading');
  return isSent ? { kind: 'processing' } : state;
}

function Duration({ status }: { status: VideoStatus | undefined }) {
  const seconds = status?.encoding.metadata.duration ?? null;
  return seconds === null ? null : <span class="video-duration">{formatTime(seconds)}</span>;
}

function sizeOf(status: VideoStatus | undefined): string | undefined {
  const bytes = status?.ingest?.filesize ?? null;
  return bytes === null ? undefined : formatBytes(bytes);
}
