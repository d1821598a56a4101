import { useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { videosChanged } from '../../uploads/upload-store.ts';
import { ImportDialog } from './import-dialog.tsx';

export function UploadButtons() {
  const input = useRef<HTMLInputElement>(null);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button icon="link" onClick={() => setAsking(true)}>
        Import from URL
      </Button>
      <Button kind="primary" icon="upload" onClick={() => input.current?.click()}>
        Upload videos
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept="video/*,audio/*,.mkv,.ts,.mts,.m2ts,.flv,.mxf"
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          uploadFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
      {isAsking && <ImportDialog onMade={videosChanged} onClose={() => setAsking(false)} />}
    </>
  );
}
