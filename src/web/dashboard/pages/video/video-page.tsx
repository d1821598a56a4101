import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { saveFile } from '../../../shared/save-file.ts';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import type { VideoState } from '../../format/video-state.ts';
import { isAudioOnly, isWatchable } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { can } from '../../state/session.ts';
import { withTexts } from '../../state/texts.ts';
import { t } from '../../texts/video.ts';
import { t as listText } from '../../texts/videos.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { LoadError, Skeleton } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { showError } from '../../ui/toast.tsx';
import { useRestoreDays } from '../../ui/video/use-restore-days.ts';
import { VideoBadge } from '../../ui/video/video-badge.tsx';
import { useFrameVideo } from '../captions/use-frame-video.ts';
import { VideoClipDialog } from '../clips/video-clip-dialog.tsx';
import { DeleteDialog } from '../videos/delete-dialog.tsx';
import { discardVideos } from '../videos/discard-videos.ts';
import { shownStateOf } from '../videos/shown-state.ts';
import { copyVideoLink } from './copy-video-link.ts';
import { backToVideos, MissingVideo } from './missing-video.tsx';
import { PlayerFrame } from './player-frame.tsx';
import { StatusLine } from './status-line.tsx';
import { TitleEditor } from './title-editor.tsx';
import { useOwnAssets, useVideo, useVideoStatus, type VideoAssets } from './use-video.ts';
import { VideoPanel } from './video-panels.tsx';
import { VideoPlays } from './video-plays.tsx';
import { parseTab, tabHref, tabLinks, tabOfAnchor, type VideoTab } from './video-tabs.ts';

export function VideoPage({ params }: PageProps) {
  const { videoId = '' } = params;
  const back = backToVideos();
  const loaded = useVideo(videoId);
  const { value: video, problem } = loaded;
  const status = useVideoStatus(videoId, video);
  if (problem?.status === 404) return <MissingVideo videoId={videoId} onRestored={loaded.reload} />;
  if (video === undefined) {
    return (
      <Page title={t('video.page')} back={back}>
        {problem === undefined ? <Loading /> : <LoadError problem={problem} retry={loaded.reload} />}
      </Page>
    );
  }
  return <LoadedVideo video={video} loaded={loaded} status={status} />;
}

function LoadedVideo({
  video,
  loaded,
  status,
}: {
  video: Video;
  loaded: ReturnType<typeof useVideo>;
  status: Loaded<VideoStatus>;
}) {
  const { videoId } = video;
  const { change } = loaded;
  const state = shownStateOf(video, status.value);
  const tab = useTab(videoId);
  const [frame, setFrame] = useState<HTMLIFrameElement | null>(null);
  const player = useFrameVideo(frame);
  const assets = useOwnAssets(video);
  // Hidden there.
  useEffect(() => {
    if (tab === 'analytics') player?.pause();
  }, [tab, player]);
  return (
    <Page
      title={titleOf(video)}
      back={backToVideos()}
      badge={
        <>
          <TitleEditor video={video} change={change} />
          {state !== undefined && <VideoBadge state={state} />}
          {status.value !== undefined && isAudioOnly(status.value) && <Badge>{t('video.audioOnly')}</Badge>}
          {!video.public && <Badge>{t('video.private')}</Badge>}
          <VideoPlays videoId={videoId} href={tabHref(videoId, 'analytics')} />
        </>
      }
      actions={<VideoActions video={video} state={state} />}
    >
      <Tabs label={t('video.sections')} tabs={tabLinks(videoId)} current={tabHref(videoId, tab)} />
      {assets !== undefined && (
        <div class={`video-body${tab === 'analytics' ? ' wide' : ''}`}>
          <Stage video={video} assets={assets} state={state} status={status} frameRef={setFrame} />
          <VideoPanel
            tab={tab}
            video={video}
            change={change}
            assets={assets}
            state={state}
            status={status}
            player={player}
            onVideo={loaded.set}
          />
        </div>
      )}
    </Page>
  );
}

/** The player, or what the server does with the file. */
function Stage({
  video,
  assets,
  state,
  status,
  frameRef,
}: {
  video: Video;
  assets: VideoAssets;
  state: VideoState | undefined;
  status: Loaded<VideoStatus>;
  frameRef: (frame: HTMLIFrameElement | null) => void;
}) {
  const { videoId } = video;
  const upload = (file: File) => {
    void withTexts(import('../../uploads/upload-queue.ts')).then(({ uploadInto }) =>
      uploadInto({ videoId, title: titleOf(video) }, file),
    );
  };
  const retry = () => {
    call('POST /videos/{videoId}/retry', { params: { videoId } }).then(status.reload, showError);
  };
  const canEdit = can('upload');
  const canRetry = canEdit && (state?.kind !== 'failed' || status.value?.encoding.failure !== undefined);
  const onRetry = canRetry ? retry : undefined;
  return (
    <div class="video-side">
      <PlayerFrame
        assets={assets}
        state={state}
        status={status.value}
        title={titleOf(video)}
        frameRef={frameRef}
        onFile={canEdit ? upload : undefined}
        onRetry={onRetry}
      />
      {state !== undefined && status.value !== undefined && isWatchable(state) && (
        <StatusLine state={state} status={status.value} onRetry={onRetry} />
      )}
      {status.value === undefined && status.problem !== undefined && (
        <LoadError problem={status.problem} retry={status.reload} />
      )}
    </div>
  );
}

/** The tab that the address names. Addresses with an anchor, such as `#chapters`, lead to the tab that has that part. */
function useTab(videoId: string): VideoTab {
  const { query } = useQuery();
  const { route } = useLocation();
  const [, setRound] = useState(0);
  // A link to an anchor of the page that is shown.
  useEffect(() => {
    const follow = () => setRound(round => round + 1);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const meant = tabOfAnchor(location.hash);
  useLayoutEffect(() => {
    if (meant !== undefined) route(tabHref(videoId, meant), true);
  }, [meant]);
  return meant ?? parseTab(query.part);
}

function Loading() {
  return (
    <div role="status" class="video-body">
      <span class="for-readers">{t('video.loading')}</span>
      <div class="video-side">
        <div class="video-stage skeleton block" />
      </div>
      <div class="stack">
        <Skeleton height={220} />
        <Skeleton height={160} />
      </div>
    </div>
  );
}

function VideoActions({ video, state }: { video: Video; state: VideoState | undefined }) {
  const { route } = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const [isClipping, setClipping] = useState(false);
  const copying = useSubmit(() => copyVideoLink(video));
  const { value: restoreDays } = useRestoreDays();
  const { videoId } = video;
  const canEdit = can('upload');
  const canClip = canEdit && state !== undefined && isWatchable(state) && state.kind !== 'encoding';
  const showList = () => route('/dashboard/videos');
  const discard = async () => {
    const { failed } = await discardVideos([video]);
    if (failed.length === 0) showList();
  };
  const items: MenuItem[] = [];
  if (restoreDays !== undefined && restoreDays > 0) {
    items.push({ label: listText('videos.moveToTrash'), icon: 'trash', onClick: () => void discard() });
  }
  items.push({
    label: listText('videos.deletePermanently'),
    icon: 'trash',
    danger: true,
    onClick: () => setDeleting(true),
  });
  return (
    <>
      <Button icon="link" busy={copying.busy} onClick={copying.submit}>
        {listText('videos.copyLink')}
      </Button>
      {state?.kind === 'ready' && video.assets?.mp4 !== undefined && (
        <Button icon="download" onClick={() => void saveMp4(videoId).catch(showError)}>
          {t('video.download')}
        </Button>
      )}
      {canClip && (
        <Button icon="clip" onClick={() => setClipping(true)}>
          {t('video.createClip')}
        </Button>
      )}
      {restoreDays !== undefined && canEdit && <Menu label={t('video.moreActions')} items={items} />}
      {isClipping && video.assets !== null && (
        <VideoClipDialog
          video={video}
          assets={video.assets}
          onCreated={clipId => route(`/dashboard/videos/${clipId}`)}
          onClose={() => setClipping(false)}
        />
      )}
      {isDeleting && (
        <DeleteDialog videos={[video]} onDeleted={showList} onClose={() => setDeleting(false)} />
      )}
    </>
  );
}

/** The links of a private video work once, so a new one is loaded. */
async function saveMp4(videoId: string): Promise<void> {
  const { assets } = await call('GET /videos/{videoId}', { params: { videoId } });
  if (assets?.mp4 !== undefined) saveFile(`${localUrl(assets.mp4)}?dl=1`, 'video.mp4');
}
