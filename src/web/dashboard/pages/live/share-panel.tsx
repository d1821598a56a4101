import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/live.ts';
import { CopyField } from '../../ui/copy.tsx';
import { EmbedField } from '../../ui/form/embed-field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { NewLinksButton } from '../../ui/new-links-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { OpenPlayerButton } from '../../ui/open-player-button.tsx';
import { Card } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';

/** Loads its own links for a private stream, because the preview has used those of the page. */
export function SharePanel({ stream }: { stream: LiveStream }) {
  const { liveStreamId } = stream;
  const load = (signal?: AbortSignal) =>
    call('GET /live-streams/{liveStreamId}', { params: { liveStreamId }, signal });
  const fresh = useLoad(`${liveStreamId} ${stream.public}`, load);
  const size = useNewestSize(stream);
  return (
    <Card
      title={t('share.title')}
      actions={
        stream.public ? (
          <OpenPlayerButton url={stream.assets.player} />
        ) : (
          <NewLinksButton renew={async () => fresh.set(await load())} />
        )
      }
    >
      {!stream.public && <Notice title={t('share.private')}>{t('share.privateText')}</Notice>}
      <LoadedContent loaded={fresh} height={240}>
        {({ assets }) => (
          <>
            <CopyField label={t('share.link')} value={assets.player} />
            <EmbedField
              player={{ url: assets.player, title: stream.name.trim() || t('streams.one'), size }}
            />
            <CopyField label={t('share.hlsUrl')} value={assets.hls} hint={t('share.hlsHint')} />
            {stream.ultraLowLatency === true && (
              <CopyField
                label={t('share.whepUrl')}
                value={whepUrl(assets.player)}
                hint={t('share.whepHint')}
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
