import { useState } from 'preact/hooks';
import type { Video } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { localUrl } from '../../../format/local-url.ts';
import { can } from '../../../state/session.ts';
import { t } from '../../../texts/video.ts';
import { Button } from '../../../ui/button.tsx';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { FileField } from '../../../ui/form/file-field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Section } from '../../../ui/page.tsx';
import { showToast } from '../../../ui/toast.tsx';
import type { VideoAssets } from '../use-video.ts';
import { FramePicker } from './frame-picker.tsx';
import { useThumbnail } from './use-thumbnail.ts';

interface ThumbnailProps {
  readonly videoId: string;
  readonly assets: VideoAssets;
  readonly isPlayable: boolean;
  readonly onVideo: (video: Video) => void;
}

export function ThumbnailCard({ videoId, assets, isPlayable, onVideo }: ThumbnailProps) {
  const [open, setOpen] = useState<'frame' | 'upload'>();
  const { src, isPending, awaitOther } = useThumbnail(localUrl(assets.thumbnail), String(isPlayable));
  const canEdit = can('upload');
  const close = () => setOpen(undefined);
  const onAsked = (video: Video) => {
    awaitOther();
    onVideo(video);
  };
  return (
    <Section title={t('thumbnail.title')}>
      <div class="thumbnail-row">
        <div class="thumbnail-frame" aria-busy={isPending}>
          {src !== undefined && <img src={src} alt={t('thumbnail.current')} />}
        </div>
        <div class="thumbnail-text">
          <p class="quiet" role="status">
            {isPending ? t('thumbnail.creating') : t('thumbnail.shown')}
          </p>
          {canEdit && (
            <div class="actions">
              <Button icon="image" disabled={!isPlayable} onClick={() => setOpen('frame')}>
                {t('thumbnail.pick')}
              </Button>
              <Button icon="upload" onClick={() => setOpen('upload')}>
                {t('thumbnail.upload')}
              </Button>
            </div>
          )}
          {canEdit && !isPlayable && <p class="hint">{t('thumbnail.notYet')}</p>}
        </div>
      </div>
      {open === 'frame' && (
        <FramePicker
          assets={assets}
          onClose={close}
          onPick={async timecode => {
            onAsked(
              await call('PATCH /videos/{videoId}/thumbnail', { params: { videoId }, body: { timecode } }),
            );
          }}
        />
      )}
      {open === 'upload' && (
        <PictureUpload
          onClose={close}
          onPick={async file => {
            const body = new FormData();
            body.set('file', file);
            onAsked(await call('POST /videos/{videoId}/thumbnail', { params: { videoId }, body }));
          }}
        />
      )}
    </Section>
  );
}

function PictureUpload({ onPick, onClose }: { onPick: (file: File) => Promise<void>; onClose: () => void }) {
  const [file, setFile] = useState<File>();
  const submission = useSubmit(async () => {
    if (file === undefined) return;
    await onPick(file);
    showToast(t('thumbnail.uploaded'));
    onClose();
  });
  return (
    <FormDialog
      title={t('thumbnail.uploadTitle')}
      action={t('thumbnail.uploadAction')}
      disabled={file === undefined}
      submission={submission}
      onClose={onClose}
    >
      <FileField
        label={t('thumbnail.image')}
        accept="image/jpeg,image/png,image/webp"
        hint={t('thumbnail.imageHint')}
        onFile={setFile}
      />
    </FormDialog>
  );
}
