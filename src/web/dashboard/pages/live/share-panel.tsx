import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { EmbedField } from '../../ui/form/embed-field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';

/** Loads its own links for a private stream, because the preview has used those of the page. */
export function SharePanel({ stream }: { stream: LiveStream }) {
  const { liveStreamId } = stream;
  const fresh = useLoad(`${liveStreamId} ${stream.public}`, signal =>
    call('GET /live-streams/{liveStreamId}', { params: { liveStreamId }, signal }),
  );
  const size = useNewestSize(stream);
  return (
    <Card
      title="Share"
      actions={
        stream.public ? (
          <Button small icon="external" href={localUrl(stream.assets.player)} target="_blank">
            Open player page
          </Button>
        ) : (
          <Button small icon="refresh" busy={fresh.isLoading} onClick={fresh.reload}>
            New links
          </Button>
        )
      }
    >
      {!stream.public && (
        <Notice title="This live stream is private.">
          Each link works for one viewer: the first who opens it. Get new links for each viewer.
        </Notice>
      )}
      <LoadedContent loaded={fresh} height={240}>
        {({ assets }) => (
          <>
            <CopyField label="Link" value={assets.player} />
            <EmbedField player={{ url: assets.player, title: stream.name.trim() || 'Live stream', size }} />
            <CopyField
              label="HLS URL"
              value={assets.hls}
              hint="For other players and apps. It works while the stream is live."
            />
            {stream.ultraLowLatency === true && (
              <CopyField
                label="WHEP URL"
                value={whepUrl(assets.player)}
                hint="For players and apps that play WebRTC, with a delay below half a second. It works while the stream is live."
              />
            )}
          </>
        )}
      </LoadedContent>
    </Card>
  );
}

/** The token of a private stream is the same. */
function whepUrl(playerUrl: string): string {
  return playerUrl.replace(/\/live\/(?=[^/]*$)/, '/whep/');
}

function useNewestSize({
  liveStreamId,
  broadcasting,
}: LiveStream): { width: number; height: number } | undefined {
  const { value } = useLoad(`${liveStreamId} ${broadcasting}`, signal =>
    call('GET /live-streams/{liveStreamId}/broadcasts', {
      params: { liveStreamId },
      query: { currentPage: 1, pageSize: 1 },
      signal,
    }),
  );
  const { width, height } = value?.data[0] ?? {};
  return width && height ? { width, height } : undefined;
}
