import type { Video, VideoStatus } from '../../api/api-types.ts';
import { formatNumber } from '../../format/size.ts';
import { isAudioOnly } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { Badge } from '../../ui/badge.tsx';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { Menu } from '../../ui/menu.tsx';
import { Progress } from '../../ui/progress.tsx';
import { showError } from '../../ui/toast.tsx';
import { VideoBadge } from '../../ui/video/video-badge.tsx';
import { VideoThumbnail } from '../../ui/video/video-thumbnail.tsx';
import { copyVideoLink } from '../video/copy-video-link.ts';
import { shownStateOf } from './shown-state.ts';

const tagsShown = 3;

/** A video with all that a list shows of it. */
export interface VideoItem {
  readonly video: Video;
  readonly status: VideoStatus | undefined;
  /** Undefined until it is known. */
  readonly plays: number | undefined;
}

export interface VideoActions {
  readonly onTag: (tag: string) => void;
  /** Moves a video to the trash, or deletes it where there is none. */
  readonly onDiscard: (video: Video) => void;
  readonly discardLabel: string;
  readonly onRetry: (video: Video) => void;
}

export function addressOf({ videoId }: Pick<Video, 'videoId'>): string {
  return `/dashboard/videos/${videoId}`;
}

export function ListThumbnail({ item: { video, status } }: { item: VideoItem }) {
  return (
    <VideoThumbnail
      video={video}
      state={shownStateOf(video, status)}
      isAudioOnly={status !== undefined && isAudioOnly(status)}
      isSmall
    />
  );
}

export function VideoStatusCell({ item: { video, status } }: { item: VideoItem }) {
  const state = shownStateOf(video, status);
  if (state === undefined) return <span class="nothing">–</span>;
  return (
    <div class="status-cell">
      <VideoBadge state={state} />
      {state.percent !== undefined && (
        <Progress percent={state.percent} label={t('videos.progress', { title: titleOf(video) })} />
      )}
      {state.failure !== undefined && (
        <span class="status-reason" title={state.failure}>
          <bdi>{state.failure}</bdi>
        </span>
      )}
    </div>
  );
}

export function playsText(plays: number | undefined): string {
  return plays === undefined ? '–' : formatNumber(plays);
}

export function Tags({ tags, onTag }: { tags: readonly string[]; onTag: (tag: string) => void }) {
  if (tags.length === 0) return null;
  return (
    <span class="video-tags">
      {tags.slice(0, tagsShown).map(tag => (
        <button key={tag} type="button" class="tag" onClick={() => onTag(tag)}>
          <bdi>{tag}</bdi>
        </button>
      ))}
      {tags.length > tagsShown && <Badge>+{tags.length - tagsShown}</Badge>}
    </span>
  );
}

export function VideoMenu({
  item: { video, status },
  actions: { onDiscard, discardLabel, onRetry },
}: {
  item: VideoItem;
  actions: VideoActions;
}) {
  const { route } = useLocation();
  const hasFailed = shownStateOf(video, status)?.kind === 'failed';
  return (
    <Menu
      label={t('videos.actionsFor', { title: titleOf(video) })}
      items={[
        {
          label: t('videos.copyLink'),
          icon: 'link',
          onClick: () => void copyVideoLink(video).catch(showError),
        },
        {
          label: t('videos.analytics'),
          icon: 'chart',
          onClick: () => route(`/dashboard/analytics?media=${video.videoId}`),
        },
        ...(can('upload') && hasFailed
          ? [{ label: t('videos.retry'), icon: 'refresh', onClick: () => onRetry(video) } as const]
          : []),
        ...(can('upload')
          ? [{ label: discardLabel, icon: 'trash', danger: true, onClick: () => onDiscard(video) } as const]
          : []),
      ]}
    />
  );
}
