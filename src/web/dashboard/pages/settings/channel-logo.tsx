import type { Channel } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
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
      <h3>Logo</h3>
      {logo !== undefined && <img class="channel-logo" src={localUrl(logo)} alt="The logo of the channel" />}
      <ImageUpload
        name="logo"
        label="Logo of the channel"
        types="image/jpeg,image/png"
        uploadLabel={hasLogo ? 'Replace logo' : 'Upload logo'}
        isRemovable={hasLogo}
        upload={async body => onChange(await call('POST /account/channel/logo', { body }))}
        remove={async () => {
          await call('DELETE /account/channel/logo');
          onRemoved();
        }}
      >
        {hasLogo && logo === undefined ? 'Shown when the channel is on. ' : ''}A square JPEG or PNG image, up
        to 1024 pixels and 200 KB. Without one, the channel shows the first letter of its name.
      </ImageUpload>
    </>
  );
}
