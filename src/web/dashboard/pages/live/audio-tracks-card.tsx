import { useState } from 'preact/hooks';
import { maxLiveAudioTracks } from '../../../../shared/limits/resource-limits.ts';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { languageName } from '../../format/languages.ts';
import { t } from '../../texts/live.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { showError } from '../../ui/toast.tsx';
import { AudioTrackDialog } from '../video/tracks/audio-track-dialog.tsx';
import { AudioTrackRow } from '../video/tracks/audio-track-row.tsx';
import { moveTrack, orderedIds, withDefault } from './audio-track-list.ts';

/** Names, languages and places of the tracks that the encoder sends. */
export function AudioTracksCard({
  stream: { liveStreamId, broadcasting, audioTracks = [] },
  onChange,
}: {
  stream: LiveStream;
  onChange: (stream: LiveStream) => void;
}) {
  const [editedId, setEditedId] = useState<number>();
  const ids = orderedIds(audioTracks);
  const defaultId = Math.max(
    0,
    audioTracks.findIndex(track => track.default),
  );
  const save = async (tracks: typeof audioTracks) => {
    const body = { audioTracks: tracks.length === 0 ? null : tracks.map(one => ({ ...one })) };
    onChange(await call('PATCH /live-streams/{liveStreamId}', { params: { liveStreamId }, body }));
  };
  const change = (tracks: typeof audioTracks) => void save(tracks).catch(showError);
  const edited = editedId === undefined ? undefined : audioTracks[editedId];
  return (
    <Card title={t('audio.title')}>
      <p class="quiet">{audioTracks.length === 0 ? t('audio.none') : t('audio.hint')}</p>
      {ids.length > 0 && (
        <ul class="tracks">
          {ids.map((id, place) => {
            const { name, language } = audioTracks[id]!;
            const languageText = language === undefined ? undefined : languageName(language);
            const isAlone = id === audioTracks.length - 1;
            return (
              <AudioTrackRow
                key={id}
                name={name ?? languageText ?? t('audio.track', { number: id + 1 })}
                scope="live"
                details={[languageText, id === 0 ? t('audio.main') : t('audio.track', { number: id + 1 })]}
                isDefault={id === defaultId}
                isFirst={place === 0}
                isLast={place === ids.length - 1}
                onEdit={() => setEditedId(id)}
                onDefault={() => change(withDefault(audioTracks, id))}
                onMove={by => change(moveTrack(audioTracks, id, by))}
                moreItems={
                  isAlone
                    ? [
                        {
                          label: t('audio.remove'),
                          icon: 'trash',
                          danger: true,
                          onClick: () => change(audioTracks.slice(0, -1)),
                        },
                      ]
                    : []
                }
              />
            );
          })}
        </ul>
      )}
      {broadcasting && audioTracks.length > 0 && <p class="hint">{t('audio.later')}</p>}
      <div class="actions">
        <Button
          icon="plus"
          disabled={audioTracks.length >= maxLiveAudioTracks}
          onClick={() => setEditedId(audioTracks.length)}
        >
          {t('audio.add')}
        </Button>
      </div>
      {editedId !== undefined && (
        <AudioTrackDialog
          title={edited === undefined ? t('audio.add') : t('audio.edit')}
          track={{ name: edited?.name ?? '', language: edited?.language ?? '' }}
          nameHint={t('audio.nameHint')}
          attribute={name => `audioTracks[${editedId}][${name}]`}
          save={({ name, language }) => {
            const { name: _, language: __, ...place } = edited ?? {};
            const track = {
              ...place,
              ...(name === '' ? {} : { name }),
              ...(language === '' ? {} : { language }),
            };
            return save([...audioTracks.slice(0, editedId), track, ...audioTracks.slice(editedId + 1)]);
          }}
          onClose={() => setEditedId(undefined)}
        />
      )}
    </Card>
  );
}
