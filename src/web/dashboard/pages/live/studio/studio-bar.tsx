import { useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { t } from '../../../texts/live.ts';
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
    <fieldset class="studio-bar" aria-label={t('studio.controls')}>
      <MicButton media={media} onChoose={() => setOpenDialog('devices')} />
      <BarButton
        icon={isVideoOff ? 'camera-off' : 'camera'}
        label={isVideoOff ? t('studio.showVideo') : t('studio.hideVideo')}
        isOff={isVideoOff}
        onClick={() => media.setVideoOff(!isVideoOff)}
      />
      {canShareScreen() && (
        <BarButton
          icon="screen"
          label={isScreen ? t('studio.stopSharing') : t('studio.shareScreen')}
          isOn={isScreen}
          onClick={() => void (isScreen ? media.useCamera(media.cameraId.value) : media.useScreen())}
        />
      )}
      {isScreen && canOverlayCamera() && (
        <BarButton
          icon="player"
          label={hasOverlay ? t('studio.screenOnly') : t('studio.overlay')}
          isOn={hasOverlay}
          onClick={() => void media.setOverlay(!hasOverlay)}
        />
      )}
      <BarButton icon="settings" label={t('studio.devices')} onClick={() => setOpenDialog('devices')} />
      <span class="studio-bar-end">
        {isOnAir ? (
          <Button
            kind="danger"
            icon="stop"
            label={t('page.endBroadcast')}
            onClick={() => setOpenDialog('end')}
          >
            {t('page.end')}
          </Button>
        ) : (
          <Button kind="primary" icon="live" onClick={() => studio.goLive(stream)}>
            {studio.state.value.kind === 'off' ? t('studio.goLive') : t('studio.goLiveAgain')}
          </Button>
        )}
      </span>
      {openDialog === 'devices' && (
        <ResultDialog title={t('studio.devices')} onClose={() => setOpenDialog(undefined)}>
          <DeviceFields studio={studio} />
        </ResultDialog>
      )}
      {openDialog === 'end' && (
        <ConfirmDialog
          title={t('studio.endTitle')}
          action={t('page.endBroadcast')}
          work={() => studio.end()}
          onClose={() => setOpenDialog(undefined)}
        >
          <p>{t('studio.endText', { name: stream.name })}</p>
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
