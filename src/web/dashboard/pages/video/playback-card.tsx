import { rich, t } from '../../texts/video.ts';
import { CheckField } from '../../ui/form/field.tsx';
import { PlayerThemeField } from '../../ui/form/player-theme-field.tsx';
import { Section } from '../../ui/page.tsx';
import type { EditedVideo } from './use-video.ts';
import { useInstantSave } from './use-video.ts';

export function PlaybackCard({ video, change }: EditedVideo) {
  const { playerId, mp4Support, panoramic } = video;
  const save = useInstantSave(change);
  return (
    <Section title={t('playback.title')}>
      <PlayerThemeField
        hint={rich('playback.themeHint', {}, { a: text => <a href="/dashboard/players">{text}</a> })}
        value={playerId ?? ''}
        onValue={value => save({ playerId: value === '' ? null : value }, t('playback.themeChanged'))}
      />
      <CheckField
        label={t('playback.mp4')}
        hint={t('playback.mp4Hint')}
        checked={mp4Support}
        onValue={isOffered =>
          save({ mp4Support: isOffered }, isOffered ? t('playback.mp4On') : t('playback.mp4Off'))
        }
      />
      <CheckField
        label={t('playback.panoramic')}
        hint={t('playback.panoramicHint')}
        checked={panoramic}
        onValue={value =>
          save({ panoramic: value }, value ? t('playback.panoramicOn') : t('playback.panoramicOff'))
        }
      />
      <div>
        <h3>{t('playback.watermark')}</h3>
        <p class="hint">
          {rich('playback.watermarkHint', {}, { a: text => <a href="/dashboard/watermarks">{text}</a> })}
        </p>
      </div>
    </Section>
  );
}
