import { CheckField } from '../../ui/form/field.tsx';
import { PlayerThemeField } from '../../ui/form/player-theme-field.tsx';
import { Section } from '../../ui/page.tsx';
import type { EditedVideo } from './use-video.ts';
import { useInstantSave } from './use-video.ts';

export function PlaybackCard({ video, change }: EditedVideo) {
  const { playerId, mp4Support, panoramic } = video;
  const save = useInstantSave(change);
  return (
    <Section title="Playback">
      <PlayerThemeField
        hint={
          <>
            Colors and logo. Create themes under <a href="/dashboard/players">Players</a>.
          </>
        }
        value={playerId ?? ''}
        onValue={value => save({ playerId: value === '' ? null : value }, 'Player theme changed.')}
      />
      <CheckField
        label="Offer MP4 download"
        hint="Shows a download button in the player."
        checked={mp4Support}
        onValue={isOffered =>
          save({ mp4Support: isOffered }, isOffered ? 'MP4 download turned on.' : 'MP4 download turned off.')
        }
      />
      <CheckField
        label="360° video"
        hint="Marks the video as 360° for apps."
        checked={panoramic}
        onValue={value => save({ panoramic: value }, value ? 'Marked as 360°.' : 'No longer marked as 360°.')}
      />
      <div>
        <h3>Watermark</h3>
        <p class="hint">
          You choose a watermark when you create a video. It becomes part of the video and can’t be changed or
          removed. See <a href="/dashboard/watermarks">Watermarks</a>.
        </p>
      </div>
    </Section>
  );
}
