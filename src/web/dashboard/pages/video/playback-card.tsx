import { CheckField } from '../../ui/form/field.tsx';
import { PlayerThemeField } from '../../ui/form/player-theme-field.tsx';
import { Card } from '../../ui/page.tsx';
import { useInstantSave } from './use-instant-save.ts';
import type { EditedVideo } from './use-video.ts';

export function PlaybackCard({ video, change }: EditedVideo) {
  const { playerId, mp4Support, panoramic } = video;
  const save = useInstantSave(change);
  return (
    <Card title="Playback">
      <PlayerThemeField
        hint={
          <>
            Colours and logo. Themes are made under <a href="/dashboard/players">Players</a>.
          </>
        }
        value={playerId ?? ''}
        onValue={value => save({ playerId: value === '' ? null : value }, 'Player theme changed.')}
      />
      <CheckField
        label="Offer an mp4 to download"
        hint="Shows a download button in the player."
        checked={mp4Support}
        onValue={isOffered =>
          save({ mp4Support: isOffered }, isOffered ? 'An mp4 is offered.' : 'No mp4 is offered any more.')
        }
      />
      <CheckField
        label="360° video"
        hint="Tells apps that the picture goes all the way around."
        checked={panoramic}
        onValue={value =>
          save({ panoramic: value }, value ? 'Marked as 360°.' : 'Not marked as 360° any more.')
        }
      />
      <div>
        <h3>Watermark</h3>
        <p class="hint">
          A watermark is chosen when a video is uploaded. It becomes part of the picture and cannot be changed
          or removed. See <a href="/dashboard/watermarks">Watermarks</a>.
        </p>
      </div>
    </Card>
  );
}
