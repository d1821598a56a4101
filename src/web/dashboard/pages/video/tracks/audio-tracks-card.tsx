import { useState } from 'preact/hooks';
import type { AudioTrack } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { languageName } from '../../../format/languages.ts';
import { t } from '../../../texts/video.ts';
import { Badge } from '../../../ui/badge.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Section } from '../../../ui/page.tsx';
import { showError, showToast } from '../../../ui/toast.tsx';
import { AudioTrackDialog } from './audio-track-dialog.tsx';
import { AudioTrackRow } from './audio-track-row.tsx';
import { channelLayout } from './channel-layout.ts';

type Changes = { readonly default?: true; readonly position?: number };

/** Hidden for a single track: there is nothing to choose. */
export function AudioTracksCard({ videoId, revision }: { videoId: string; revision: unknown }) {
  const [edited, setEdited] = useState<AudioTrack>();
  const loaded = useLoad(`${videoId}/${revision}`, signal =>
    call('GET /videos/{videoId}/audio-tracks', { params: { videoId }, query: { pageSize: 100 }, signal }),
  );
  const tracks = loaded.value?.data ?? [];
  if (tracks.length < 2) return null;
  const patch = 'PATCH /videos/{videoId}/audio-tracks/{audioTrackId}';
  const change = ({ audioTrackId, name }: AudioTrack, body: Changes) => {
    call(patch, { params: { videoId, audioTrackId }, body }).then(() => {
      if (body.default === true) showToast(t('audioTracks.isDefault', { name }));
      loaded.reload();
    }, showError);
  };
  return (
    <Section title={t('audioTracks.title')}>
      <ul class="tracks">
        {tracks.map(track => (
          <AudioTrackRow
            key={track.audioTrackId}
            name={track.name}
            scope="upload"
            details={[
              track.language === null ? undefined : languageName(track.language),
              track.channels === null ? undefined : channelLayout(track.channels),
            ]}
            isDefault={track.default}
            isFirst={track.position === 1}
            isLast={track.position === tracks.length}
            onEdit={() => setEdited(track)}
            onDefault={() => change(track, { default: true })}
            onMove={by => change(track, { position: track.position + by })}
          >
            {track.status === 'failed' && <Badge tone="bad">{t('audioTracks.failed')}</Badge>}
          </AudioTrackRow>
        ))}
      </ul>
      {edited !== undefined && (
        <AudioTrackDialog
          title={t('audioTracks.edit')}
          track={{ name: edited.name, language: edited.language ?? '' }}
          nameHint={t('audioTracks.nameHint')}
          save={async ({ name, language }) => {
            const params = { videoId, audioTrackId: edited.audioTrackId };
            const changedName = name === edited.name ? {} : { name: name === '' ? null : name };
            await call(patch, {
              params,
              body: { ...changedName, language: language === '' ? null : language },
            });
            loaded.reload();
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Section>
  );
}
