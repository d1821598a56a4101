import { useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { FilesInput } from './files-input.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { UploadDialog } from './upload-dialog.tsx';

export function UploadButtons() {
  const input = useRef<HTMLInputElement>(null);
  const [dialog, setDialog] = useState<'import' | 'upload'>();
  const close = () => setDialog(undefined);
  return (
    <>
      <Button icon="link" onClick={() => setDialog('import')}>
        Import from URL
      </Button>
      <Button icon="edit" onClick={() => setDialog('upload')}>
        Upload with options
      </Button>
      <Button kind="primary" icon="upload" onClick={() => input.current?.click()}>
        Upload videos
      </Button>
      <FilesInput inputRef={input} label="Files to upload" onFiles={uploadFiles} />
      {dialog === 'import' && <ImportDialog onClose={close} />}
      {dialog === 'upload' && <UploadDialog onClose={close} />}
    </>
  );
}
