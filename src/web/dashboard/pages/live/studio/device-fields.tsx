import { formatNumber } from '../../../format/size.ts';
import { t } from '../../../texts/live.ts';
import { IconButton } from '../../../ui/button.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import type { PresetName } from './capture.ts';
import { LevelMeter } from './level-meter.tsx';
import type { Studio } from './studio.ts';
import { type Device, noMicrophone } from './studio-media.ts';

/** Upload bandwidth in Mbit/s that each quality needs. */
const qualities: readonly (readonly [PresetName, number])[] = [
  ['1080p', 6],
  ['720p', 3.5],
  ['480p', 2],
];

/** Choices of what is sent. All of them work during the broadcast, too. */
export function DeviceFields({ studio }: { studio: Studio }) {
  const { media } = studio;
  const isScreen = media.source.value === 'screen';
  const microphoneId = media.microphoneId.value;
  return (
    <>
      <div class="studio-device">
        <SelectField
          label={t('studio.camera')}
          value={media.cameraId.value}
          onValue={id => void media.chooseCamera(id)}
          options={optionsOf(media.cameras.value, t('studio.noCamera'))}
        />
        {media.cameras.value.length > 1 && (
          <IconButton
            icon="refresh"
            label={t('studio.switchCamera')}
            onClick={() => void media.useNextCamera()}
          />
        )}
      </div>
      {isScreen && (
        <p class="hint">{media.hasScreenAudio.value ? t('studio.screenAudio') : t('studio.noScreenAudio')}</p>
      )}
      <SelectField
        label={t('studio.microphone')}
        value={microphoneId}
        onValue={id => void media.useMicrophone(id)}
        options={[...optionsOf(media.microphones.value, undefined), [noMicrophone, t('studio.noMicrophone')]]}
      />
      {(microphoneId !== noMicrophone || media.hasScreenAudio.value) && (
        <LevelMeter mixer={media.mixer} isOff={media.isMuted.value && !media.hasScreenAudio.value} />
      )}
      <SelectField
        label={t('studio.quality')}
        value={media.preset.value}
        onValue={preset => void studio.setPreset(preset)}
        options={qualities.map(
          ([quality, rate]) =>
            [quality, t('studio.upload', { quality, rate: formatNumber(rate, 1) })] as const,
        )}
        hint={studio.isOnAir ? t('studio.qualityHint') : undefined}
      />
    </>
  );
}

function optionsOf(
  devices: readonly Device[],
  none: string | undefined,
): (readonly [id: string, label: string])[] {
  if (devices.length === 0 && none !== undefined) return [['', none]];
  return devices.map(({ id, label }) => [id, label] as const);
}
