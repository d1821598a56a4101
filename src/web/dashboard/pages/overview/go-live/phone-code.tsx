import { withBasePath } from '../../../../shared/base-path.ts';
import type { LiveStream } from '../../../api/api-types.ts';
import { t } from '../../../texts/overview.ts';
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
        <p>{t('goLive.needsHttps')}</p>
        <Button small href={withBasePath('/docs/operating#https')}>
          {t('goLive.setUpHttps')}
        </Button>
      </div>
    );
  }
  return (
    <>
      <div class="way-box code">
        <QrCode text={url} label={t('goLive.qrCode')} />
      </div>
      <p class="hint">{t('goLive.scan')}</p>
    </>
  );
}
