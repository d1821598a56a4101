import type { Video, VideoStatus } from '../../api/api-types.ts';
import { isWatchable, videoStateOf } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import { can } from '../../state/session.ts';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { DetailsCard } from './details-card.tsx';
import { FileInfoCard } from './file-info-card.tsx';
import { MetadataCard } from './metadata-card.tsx';
import { PlaybackCard } from './playback-card.tsx';
import { PlayerFrame } from './player-frame.tsx';
import { QualitiesCard } from './qualities-card.tsx';
import { ShareCard } from './share-card.tsx';
import { SummaryCard } from './summary-card.tsx';
import { TagsCard } from './tags-card.tsx';
import { ThumbnailCard } from './thumbnail/thumbnail-card.tsx';
import { AudioTracksCard } from './tracks/audio-tracks-card.tsx';
import { CaptionsCard } from './tracks/captions-card.tsx';
import { ChaptersCard } from './tracks/chapters-card.tsx';
import { type EditedVideo, useOwnAssets } from './use-video.ts';

export function VideoCards({
  video,
  change,
  onVideo,
  status,
}: EditedVideo & {
  onVideo: (video: Video) => void;
  status: Loaded<VideoStatus>;
}) {
  const { videoId } = video;
  const assets = useOwnAssets(video);
  const state = status.value && videoStateOf(video, status.value);
  const duration = status.value?.encoding.metadata.duration ?? undefined;
  const isPlayable = state !== undefined && isWatchable(state);
  const upload = (file: File) => {
    void import('../../uploads/upload-queue.ts').then(({ uploadInto }) =>
      uploadInto({ videoId, title: titleOf(video) }, file),
    );
  };
  if (assets === undefined) return null;
  return (
    <div class="columns main-side">
      <div class="stack video-main">
        <PlayerFrame
          assets={assets}
          state={state}
          title={titleOf(video)}
          {...(can('upload') ? { onFile: upload } : {})}
        />
        <DetailsCard video={video} change={change} />
        <TagsCard video={video} change={change} />
        <ThumbnailCard videoId={videoId} assets={assets} isPlayable={isPlayable} onVideo={onVideo} />
        <AudioTracksCard videoId={videoId} revision={state?.kind} />
        <CaptionsCard videoId={videoId} transcript={status.value?.transcript} onRequested={status.reload} />
        <SummaryCard videoId={videoId} transcript={status.value?.transcript} onRequested={status.reload} />
        <ChaptersCard videoId={videoId} duration={duration} />
        <MetadataCard video={video} change={change} />
      </div>
      <div class="stack">
        <ShareCard video={video} change={change} status={status.value} />
        {can('upload') && <PlaybackCard video={video} change={change} />}
        <QualitiesCard videoId={videoId} status={status} />
        <FileInfoCard video={video} status={status} />
      </div>
    </div>
  );
}
