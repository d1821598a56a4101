import type { ComponentChildren } from 'preact';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import type { EmbeddedPlayer } from '../../format/embed-code.ts';
import { titleOf } from '../../format/video-title.ts';
import { can } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { EmbedField } from '../../ui/form/embed-field.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import type { EditedVideo, VideoAssets } from './use-video.ts';
import { useInstantSave } from './use-video.ts';

const publicText = 'Public: anyone with the link';
const privateText = 'Private: one viewer per link';

export function ShareCard({ video, change, status }: EditedVideo & { status: VideoStatus | undefined }) {
  const save = useInstantSave(change);
  const setPublic = (isPublic: boolean) =>
    save({ public: isPublic }, isPublic ? 'The video is public.' : 'The video is private.');
  const linksOf = (assets: VideoAssets) => (
    <Links assets={assets} title={titleOf(video)} size={videoSizeOf(status)} />
  );
  return (
    <Section title="Share">
      {can('upload') ? (
        <SelectField
          label="Who can watch"
          value={video.public ? 'public' : 'private'}
          onValue={value => setPublic(value === 'public')}
          options={[
            ['public', publicText],
            ['private', privateText],
          ]}
        />
      ) : (
        <p>{video.public ? publicText : privateText}</p>
      )}
      {video.public ? (
        video.assets !== null && linksOf(video.assets)
      ) : (
        <PrivateLinks videoId={video.videoId}>{linksOf}</PrivateLinks>
      )}
    </Section>
  );
}

/** Private links: each has its own token, for the first viewer who opens it. */
function PrivateLinks({
  videoId,
  children,
}: {
  videoId: string;
  children: (assets: VideoAssets) => ComponentChildren;
}) {
  const loaded = useLoad<Video>(videoId, signal =>
    call('GET /videos/{videoId}', { params: { videoId }, signal }),
  );
  return (
    <>
      <Notice
        action={
          <Button small icon="refresh" busy={loaded.isLoading} onClick={loaded.reload}>
            New links
          </Button>
        }
      >
        Each link works for one viewer: the first browser that opens it can watch for 24 hours. Get new links
        for the next viewer.
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
}: Pick<EmbeddedPlayer, 'title' | 'size'> & { assets: VideoAssets }) {
  return (
    <>
      <CopyField label="Link" value={player} />
      <EmbedField player={{ url: player, title, size }} />
      <CopyField label="HLS URL" value={hls} hint="For other players and apps." />
      {mp4 !== undefined && <CopyField label="MP4 URL" value={mp4} />}
    </>
  );
}
