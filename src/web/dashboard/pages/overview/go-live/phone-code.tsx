import { withBasePath } from '../../../../shared/base-path.ts';
import type { LiveStream } from '../../../api/api-types.ts';
import { Button } from '../../../ui/button.tsx';
import { QrCode } from '../../../ui/qr-code.tsx';
import { phoneUrl } from './phone-url.ts';

/** Opens the studio on a phone. */
export function PhoneCode({ stream }: { stream: LiveStream }) {
  const url = phoneUrl(
    withBasePath(`/dashboard/live/${stream.liveStreamId}/studio?camera=on`),
    stream.assets.player,
  );
  if (url === undefined) {
    return (
      <div class="way-box">
        <p>
          Phones allow the camera on HTTPS pages only. Set up HTTPS for this server, and a QR code for your
          phone appears here.
        </p>
        <Button small href={withBasePath('/docs/operating#https')}>
          Set up HTTPS
        </Button>
      </div>
    );
  }
  return (
    <>
      <div class="way-box code">
        <QrCode text={url} label="QR code that opens the studio on your phone" />
      </div>
      <p class="hint">Scan it with your phone’s camera, sign in, and go live from there.</p>
    </>
  );
}
