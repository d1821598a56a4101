import type { ComponentChildren } from 'preact';
import { withBasePath } from '../../../shared/base-path.ts';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import type { EmbeddedPlayer } from '../../format/embed-code.ts';
import { titleOf } from '../../format/video-title.ts';
import { can } from '../../state/session.ts';
import { rich, t } from '../../texts/video.ts';
import { CopyField } from '../../ui/copy.tsx';
import { EmbedField } from '../../ui/form/embed-field.tsx';
import { type Visibility, VisibilityField, visibilityText } from '../../ui/form/visibility-field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { NewLinksButton } from '../../ui/new-links-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { OpenPlayerButton } from '../../ui/open-player-button.tsx';
import { Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import type { EditedVideo, VideoAssets } from './use-video.ts';
import { useInstantSave } from './use-video.ts';

export function ShareCard({ video, change, status }: EditedVideo & { status: VideoStatus | undefined }) {
  const save = useInstantSave(change);
  const visibility = { public: video.public, listed: video.listed === true };
  const setVisibility = (chosen: Visibility) => save(chosen, savedText(chosen));
  const linksOf = (assets: VideoAssets) => (
    <Links assets={assets} title={titleOf(video)} size={videoSizeOf(status)} isPrivate={!video.public} />
  );
  return (
    <Section
      title={t('share.title')}
      actions={
        video.public && video.assets !== null ? <OpenPlayerButton url={video.assets.player} /> : undefined
      }
    >
      {can('upload') ? (
        <VisibilityField value={visibility} onValue={setVisibility} />
      ) : (
        <p>{visibilityText(visibility)}</p>
      )}
      {video.public ? (
        video.assets !== null && linksOf(video.assets)
      ) : (
        <PrivateLinks videoId={video.videoId}>{linksOf}</PrivateLinks>
      )}
    </Section>
  );
}

function savedText({ public: isPublic, listed }: Visibility): string {
  if (!isPublic) return t('share.isPrivate');
  return listed ? t('share.isListed') : t('share.isPublic');
}

/** Private links: each has its own token, for the first viewer who opens it. */
function PrivateLinks({
  videoId,
  children,
}: {
  videoId: string;
  children: (assets: VideoAssets) => ComponentChildren;
}) {
  const load = (signal?: AbortSignal) => call('GET /videos/{videoId}', { params: { videoId }, signal });
  const loaded = useLoad<Video>(videoId, load);
  return (
    <>
      <Notice action={<NewLinksButton renew={async () => loaded.set(await load())} />}>
        {t('share.oneViewer')}
      </Notice>
      <LoadedContent loaded={loaded} height={300}>
        {({ assets }) => assets !== null && children(assets)}
      </LoadedContent>
    </>
  );
}

function videoSizeOf(status: VideoStatus | undefined): EmbeddedPlayer['size'] {
  const { width, height } = status?.encoding.metadata ?? {};
  return width && height ? { width, height } : undefined;
}

function Links({
  assets: { player, hls, mp4 },
  title,
  size,
  isPrivate,
}: Pick<EmbeddedPlayer, 'title' | 'size'> & { assets: VideoAssets; isPrivate: boolean }) {
  return (
    <>
      <CopyField label={t('share.link')} value={player} />
      <EmbedField player={{ url: player, title, size }} />
      {isPrivate && (
        <p class="hint">
          {rich(
            'share.privateEmbed',
            {},
            { a: text => <a href={withBasePath('/docs/protecting')}>{text}</a> },
          )}
        </p>
      )}
      <CopyField label={t('share.hls')} value={hls} hint={t('share.hlsHint')} />
      {mp4 !== undefined && <CopyField label={t('share.mp4')} value={mp4} />}
    </>
  );
}
