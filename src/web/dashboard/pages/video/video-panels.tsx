import type { Video, VideoStatus } from '../../api/api-types.ts';
import { isWatchable, type VideoState } from '../../format/video-state.ts';
import { can } from '../../state/session.ts';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { AnalyticsTab } from './analytics-tab.tsx';
import { DetailsCard } from './details-card.tsx';
import { FileInfoCard } from './file-info-card.tsx';
import { MetadataCard } from './metadata-card.tsx';
import { PlaybackCard } from './playback-card.tsx';
import { PolicyCard } from './policy-card.tsx';
import { QualitiesCard } from './qualities-card.tsx';
import { ShareCard } from './share-card.tsx';
import { SummaryCard } from './summary-card.tsx';
import { ThumbnailCard } from './thumbnail/thumbnail-card.tsx';
import { AudioTracksCard } from './tracks/audio-tracks-card.tsx';
import { CaptionsCard } from './tracks/captions-card.tsx';
import { ChaptersCard } from './tracks/chapters-card.tsx';
import type { EditedVideo, VideoAssets } from './use-video.ts';
import type { VideoTab } from './video-tabs.ts';

/** The shown tab of a video's page. */
export function VideoPanel({
  tab,
  video,
  change,
  assets,
  state,
  status,
  player,
  onVideo,
}: EditedVideo & {
  tab: VideoTab;
  assets: VideoAssets;
  state: VideoState | undefined;
  status: Loaded<VideoStatus>;
  player: HTMLVideoElement | undefined;
  onVideo: (video: Video) => void;
}) {
  const { videoId } = video;
  const { transcript, encoding } = status.value ?? {};
  const edited = { video, change };
  switch (tab) {
    case 'details':
      return (
        <div class="stack">
          <DetailsCard {...edited} />
          <ThumbnailCard
            videoId={videoId}
            assets={assets}
            isPlayable={state !== undefined && isWatchable(state)}
            onVideo={onVideo}
          />
          <MetadataCard {...edited} />
          <FileInfoCard video={video} status={status} />
          <QualitiesCard status={status} />
        </div>
      );
    case 'captions':
      return (
        <div class="stack">
          <CaptionsCard videoId={videoId} transcript={transcript} onRequested={status.reload} />
          <ChaptersCard
            videoId={videoId}
            duration={encoding?.metadata.duration ?? undefined}
            player={player}
          />
          <AudioTracksCard videoId={videoId} revision={state?.kind} />
          <SummaryCard videoId={videoId} transcript={transcript} onRequested={status.reload} />
        </div>
      );
    case 'share':
      return (
        <div class="stack">
          <ShareCard {...edited} status={status.value} />
          {can('upload') && <PlaybackCard {...edited} />}
          <PolicyCard {...edited} />
        </div>
      );
    case 'analytics':
      return <AnalyticsTab videoId={videoId} />;
  }
}
