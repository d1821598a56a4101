import { useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { ResultDialog } from '../../../ui/dialog/dialog.tsx';
import { Icon, type IconName } from '../../../ui/icon.tsx';
import { canOverlayCamera } from './camera-overlay.ts';
import { canShareScreen } from './capture.ts';
import { DeviceFields } from './device-fields.tsx';
import { MicButton } from './mic-button.tsx';
import type { Studio } from './studio.ts';

/** The controls of a broadcast, at the bottom of the window. */
export function StudioBar({ studio, stream }: { studio: Studio; stream: LiveStream }) {
  const [openDialog, setOpenDialog] = useState<'devices' | 'end'>();
  const { media, isOnAir } = studio;
  const isVideoOff = media.isVideoOff.value;
  const isScreen = media.source.value === 'screen';
  const hasOverlay = media.hasOverlay.value;
  return (
    <fieldset class="studio-bar" aria-label="Studio controls">
      <MicButton media={media} onChoose={() => setOpenDialog('devices')} />
      <BarButton
        icon={isVideoOff ? 'camera-off' : 'camera'}
        label={isVideoOff ? 'Show video' : 'Hide video'}
        isOff={isVideoOff}
        onClick={() => media.setVideoOff(!isVideoOff)}
      />
      {canShareScreen() && (
        <BarButton
          icon="screen"
          label={isScreen ? 'Stop sharing' : 'Share screen'}
          isOn={isScreen}
          onClick={() => void (isScreen ? media.useCamera(media.cameraId.value) : media.useScreen())}
        />
      )}
      {isScreen && canOverlayCamera() && (
        <BarButton
          icon="player"
          label={hasOverlay ? 'Screen only' : 'Camera over screen'}
          isOn={hasOverlay}
          onClick={() => void media.setOverlay(!hasOverlay)}
        />
      )}
      <BarButton icon="settings" label="Devices" onClick={() => setOpenDialog('devices')} />
      <span class="studio-bar-end">
        {isOnAir ? (
          <Button kind="danger" icon="stop" label="End broadcast" onClick={() => setOpenDialog('end')}>
            End
          </Button>
        ) : (
          <Button kind="primary" icon="live" onClick={() => studio.goLive(stream.streamKey ?? '')}>
            {studio.state.value.kind === 'off' ? 'Go live' : 'Go live again'}
          </Button>
        )}
      </span>
      {openDialog === 'devices' && (
        <ResultDialog title="Devices" onClose={() => setOpenDialog(undefined)}>
          <DeviceFields studio={studio} />
        </ResultDialog>
      )}
      {openDialog === 'end' && (
        <ConfirmDialog
          title="End the broadcast?"
          action="End broadcast"
          work={() => studio.end()}
          onClose={() => setOpenDialog(undefined)}
        >
          <p>
            Viewers of “{stream.name}” see that the stream has ended, and what was recorded becomes a video.
          </p>
        </ConfirmDialog>
      )}
    </fieldset>
  );
}

function BarButton({
  icon,
  label,
  isOff = false,
  isOn = false,
  onClick,
}: {
  icon: IconName;
  label: string;
  isOff?: boolean;
  isOn?: boolean;
  onClick: () => void;
}) {
  return (
    <button type="button" class={`studio-button${isOff ? ' off' : ''}${isOn ? ' on' : ''}`} onClick={onClick}>
      <span class="studio-button-icon">
        <Icon name={icon} size={22} />
      </span>
      <span>{label}</span>
    </button>
  );
}
