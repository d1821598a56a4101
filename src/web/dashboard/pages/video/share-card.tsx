import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { useChoice } from './use-choice.ts';
import type { EditedVideo, VideoAssets } from './use-video.ts';

/** Who may watch a video, and what to give them: links and the code for other pages. */
export function ShareCard({ video, change }: EditedVideo) {
  const save = useChoice(change);
  const setPublic = (isPublic: boolean) =>
    save({ public: isPublic }, isPublic ? 'The video is public.' : 'The video is private.');
  return (
    <Card title="Share">
      <SelectField
        label="Who can watch"
        value={video.public ? 'public' : 'private'}
        onValue={value => setPublic(value === 'public')}
        options={[
          ['public', 'Public: everybody with the link'],
          ['private', 'Private: one viewer for each link'],
        ]}
      />
      {video.public ? (
        video.assets !== null && <Links assets={video.assets} />
      ) : (
        <PrivateLinks videoId={video.videoId} />
      )}
    </Card>
  );
}

/** Their token is none that this page uses itself: it is for the first who opens it. */
function PrivateLinks({ videoId }: { videoId: string }) {
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
        Each link is for one viewer: the first browser that opens it can watch for 24 hours, nobody else. Make
        new links for the next viewer.
      </Notice>
      <Shown loaded={loaded} height={300}>
        {({ assets }) => assets !== null && <Links assets={assets} />}
      </Shown>
    </>
  );
}

function Links({ assets: { player, iframe, hls, mp4 } }: { assets: VideoAssets }) {
  return (
    <>
      <CopyField label="Link" value={player} />
      <CopyField label="Embed code" value={iframe} hint="Paste it into the HTML of a page." />
      <CopyField label="HLS address" value={hls} hint="For other players and apps." />
      {mp4 !== undefined && <CopyField label="MP4 address" value={mp4} />}
    </>
  );
}
