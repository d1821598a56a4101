import type { Channel } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import { t } from '../../texts/server.ts';
import { ImageUpload } from '../../ui/form/image-upload.tsx';

/** The logo is saved at once, unlike the form above it. */
export function ChannelLogo({
  channel: { hasLogo, logo },
  onChange,
  onRemoved,
}: {
  channel: Channel;
  onChange: (channel: Channel) => void;
  onRemoved: () => void;
}) {
  return (
    <>
      <h3>{t('channel.logo')}</h3>
      {logo !== undefined && <img class="channel-logo" src={localUrl(logo)} alt={t('channel.logoAlt')} />}
      <ImageUpload
        name="logo"
        label={t('channel.logoLabel')}
        types="image/jpeg,image/png"
        uploadLabel={t(hasLogo ? 'channel.replaceLogo' : 'channel.uploadLogo')}
        isRemovable={hasLogo}
        upload={async body => onChange(await call('POST /account/channel/logo', { body }))}
        remove={async () => {
          await call('DELETE /account/channel/logo');
          onRemoved();
        }}
      >
        {hasLogo && logo === undefined && `${t('channel.logoShown')} `}
        {t('channel.logoText')}
      </ImageUpload>
    </>
  );
}
