import { IconButton } from '../../../ui/button.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import type { PresetName } from './capture.ts';
import { LevelMeter } from './level-meter.tsx';
import type { Studio } from './studio.ts';
import { type Device, noMicrophone } from './studio-media.ts';

const qualities: readonly (readonly [PresetName, string])[] = [
  ['1080p', '1080p: 6 Mbit/s upload'],
  ['720p', '720p: 3.5 Mbit/s upload'],
  ['480p', '480p: 2 Mbit/s upload'],
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
          label="Camera"
          value={media.cameraId.value}
          onValue={id => void media.chooseCamera(id)}
          options={optionsOf(media.cameras.value, 'No camera in use')}
        />
        {media.cameras.value.length > 1 && (
          <IconButton icon="refresh" label="Switch camera" onClick={() => void media.useNextCamera()} />
        )}
      </div>
      {isScreen && (
        <p class="hint">
          {media.hasScreenAudio.value
            ? 'Screen audio is sent, too.'
            : 'Screen audio isn’t shared. In Chrome and Edge, choose a tab and turn on “Also share tab audio”.'}
        </p>
      )}
      <SelectField
        label="Microphone"
        value={microphoneId}
        onValue={id => void media.useMicrophone(id)}
        options={[...optionsOf(media.microphones.value, undefined), [noMicrophone, 'No microphone']]}
      />
      {(microphoneId !== noMicrophone || media.hasScreenAudio.value) && (
        <LevelMeter mixer={media.mixer} isOff={media.isMuted.value && !media.hasScreenAudio.value} />
      )}
      <SelectField
        label="Quality"
        value={media.preset.value}
        onValue={preset => void studio.setPreset(preset)}
        options={qualities}
        hint={studio.isOnAir ? 'A new resolution interrupts playback for a moment.' : undefined}
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
