import { useState } from 'preact/hooks';
import type { AudioTrack } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { Badge } from '../../../ui/badge.tsx';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../../ui/form/field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Menu, type MenuItem } from '../../../ui/menu.tsx';
import { Card } from '../../../ui/page.tsx';
import { showError, showToast } from '../../../ui/toast.tsx';
import { channelLayout } from './channel-layout.ts';
import { languageName, trackLanguages } from './languages.ts';

type Changes = { readonly default?: true; readonly position?: number };

/** Hidden for a single track: there is nothing to choose. */
export function AudioTracksCard({ videoId, revision }: { videoId: string; revision: unknown }) {
  const [edited, setEdited] = useState<AudioTrack>();
  const loaded = useLoad(`${videoId}/${revision}`, signal =>
    call('GET /videos/{videoId}/audio-tracks', { params: { videoId }, query: { pageSize: 100 }, signal }),
  );
  const tracks = loaded.value?.data ?? [];
  if (tracks.length < 2) return null;
  const change = ({ audioTrackId, name }: AudioTrack, body: Changes) => {
    call('PATCH /videos/{videoId}/audio-tracks/{audioTrackId}', {
      params: { videoId, audioTrackId },
      body,
    }).then(() => {
      if (body.default === true) showToast(`Viewers hear “${name}” by default.`);
      loaded.reload();
    }, showError);
  };
  return (
    <Card title="Audio tracks">
      <ul class="tracks">
        {tracks.map(track => (
          <TrackRow
            key={track.audioTrackId}
            track={track}
            isLast={track.position === tracks.length}
            onChange={body => change(track, body)}
            onEdit={() => setEdited(track)}
          />
        ))}
      </ul>
      {edited !== undefined && (
        <EditTrack
          videoId={videoId}
          track={edited}
          onDone={loaded.reload}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Card>
  );
}

function TrackRow({
  track,
  isLast,
  onChange,
  onEdit,
}: {
  track: AudioTrack;
  isLast: boolean;
  onChange: (changes: Changes) => void;
  onEdit: () => void;
}) {
  const { name, language, channels, position, status } = track;
  const items: MenuItem[] = [{ label: 'Edit name and language', icon: 'edit', onClick: onEdit }];
  if (!track.default) {
    items.push({ label: 'Play by default', icon: 'check', onClick: () => onChange({ default: true }) });
  }
  if (position > 1) {
    items.push({ label: 'Move up', icon: 'up', onClick: () => onChange({ position: position - 1 }) });
  }
  if (!isLast) {
    items.push({
      label: 'Move down',
      icon: 'down',
      onClick: () => onChange({ position: position + 1 }),
    });
  }
  const layout = channels === null ? undefined : channelLayout(channels);
  const details = [language === null ? undefined : languageName(language), layout]
    .filter(text => text !== undefined && text !== name)
    .join(', ');
  return (
    <li>
      <span class="track-name">
        {name}
        {details !== '' && <span class="quiet">{details}</span>}
        {track.default && <Badge tone="info">Default</Badge>}
        {status === 'failed' && <Badge tone="bad">Can’t be decoded</Badge>}
      </span>
      <Menu label={`Actions for the audio track ${name}`} items={items} />
    </li>
  );
}

function EditTrack({
  videoId,
  track,
  onDone,
  onClose,
}: {
  videoId: string;
  track: AudioTrack;
  onDone: () => void;
  onClose: () => void;
}) {
  const { audioTrackId } = track;
  const [name, setName] = useState(track.name);
  const [language, setLanguage] = useState(track.language ?? '');
  const [options] = useState(() => languageOptions(track.language));
  const submission = useSubmit(async () => {
    const wanted = name.trim();
    await call('PATCH /videos/{videoId}/audio-tracks/{audioTrackId}', {
      params: { videoId, audioTrackId },
      body: {
        ...(wanted === track.name ? {} : { name: wanted === '' ? null : wanted }),
        language: language === '' ? null : language,
      },
    });
    onDone();
    onClose();
  });
  return (
    <FormDialog title="Edit audio track" action="Save" submission={submission} onClose={onClose}>
      <TextField
        label="Name"
        hint="Leave it empty to use the name of the language."
        maxLength={100}
        value={name}
        onValue={setName}
        error={submission.errorOf('name')}
      />
      <SelectField
        label="Language"
        value={language}
        onValue={setLanguage}
        error={submission.errorOf('language')}
        options={[['', 'Not set'], ...options]}
      />
    </FormDialog>
  );
}

function languageOptions(present: string | null): (readonly [string, string])[] {
  const known = trackLanguages();
  const isKnown = present === null || known.some(([tag]) => tag === present);
  return isKnown ? known : [[present, languageName(present)], ...known];
}
