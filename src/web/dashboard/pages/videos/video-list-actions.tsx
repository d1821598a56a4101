import { useState } from 'preact/hooks';
import { can } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { Button } from '../../ui/button.tsx';
import { UploadDialog } from './upload-dialog.tsx';

export function VideoListActions() {
  const [isUploading, setUploading] = useState(false);
  return (
    <>
      <Button kind="quiet" icon="trash" href="/dashboard/videos/trash">
        {t('videos.trash')}
      </Button>
      {can('upload') && (
        <Button kind="primary" icon="upload" onClick={() => setUploading(true)}>
          {t('videos.upload')}
        </Button>
      )}
      {isUploading && <UploadDialog onClose={() => setUploading(false)} />}
    </>
  );
}
