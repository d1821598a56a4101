import { useRef, useState } from 'preact/hooks';
import { can } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { Menu } from '../../ui/menu.tsx';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { FilesInput } from './files-input.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { UploadDialog } from './upload-dialog.tsx';

const trash = '/dashboard/videos/trash';

/** On phones, all but the main action are in a menu. */
export function VideoListActions() {
  const { route } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const [dialog, setDialog] = useState<'import' | 'upload'>();
  const close = () => setDialog(undefined);
  if (!can('upload')) {
    return (
      <Button kind="quiet" icon="trash" href={trash}>
        Trash
      </Button>
    );
  }
  return (
    <>
      <div class="wide-actions">
        <Button kind="quiet" icon="trash" href={trash}>
          Trash
        </Button>
        <Button icon="link" onClick={() => setDialog('import')}>
          Import from URL
        </Button>
        <Button icon="edit" onClick={() => setDialog('upload')}>
          Upload with options
        </Button>
      </div>
      <Button kind="primary" icon="upload" onClick={() => input.current?.click()}>
        Upload videos
      </Button>
      <div class="phone-actions">
        <Menu
          label="More actions"
          items={[
            { label: 'Upload with options', icon: 'edit', onClick: () => setDialog('upload') },
            { label: 'Import from URL', icon: 'link', onClick: () => setDialog('import') },
            { label: 'Trash', icon: 'trash', onClick: () => route(trash) },
          ]}
        />
      </div>
      <FilesInput inputRef={input} label="Files to upload" onFiles={uploadFiles} />
      {dialog === 'import' && <ImportDialog onClose={close} />}
      {dialog === 'upload' && <UploadDialog hasOptions onClose={close} />}
    </>
  );
}
