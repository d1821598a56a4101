import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { t } from '../../texts/live.ts';
import { ImageUpload } from '../../ui/form/image-upload.tsx';
import { Card } from '../../ui/page.tsx';

export function ThumbnailCard({
  stream,
  onChange,
}: {
  stream: LiveStream;
  onChange: (stream: LiveStream) => void;
}) {
  const { liveStreamId, name, hasThumbnail = false, assets, updatedAt } = stream;
  const params = { liveStreamId };
  return (
    <Card title={t('thumbnail.title')}>
      <img
        class="thumbnail"
        src={versionedUrl(assets.thumbnail, updatedAt)}
        alt={t('thumbnail.alt', { name })}
        width={640}
        height={360}
      />
      <ImageUpload
        name="thumbnail"
        label={t('thumbnail.label')}
        types="image/jpeg,image/png,image/webp"
        isRemovable={hasThumbnail}
        upload={async body =>
          onChange(await call('POST /live-streams/{liveStreamId}/thumbnail', { params, body }))
        }
        remove={async () => onChange(await call('DELETE /live-streams/{liveStreamId}/thumbnail', { params }))}
      >
        {t('thumbnail.hint')}
      </ImageUpload>
    </Card>
  );
}
