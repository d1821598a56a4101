import { useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showToast } from '../../ui/toast.tsx';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { videosChanged } from '../../uploads/upload-store.ts';
import { titleOfUrl } from './title-of-url.ts';

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

function ImportDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [source, setSource] = useState('');
  const [title, setTitle] = useState('');
  const suggested = titleOfUrl(source);
  const submission = useSubmit(async () => {
    await call('POST /videos', { body: { title: title.trim() || suggested, source: source.trim() } });
    showToast('Import started.');
    onMade();
    onClose();
  });
  return (
    <FormDialog
      title="Import a video from a URL"
      action="Import video"
      disabled={source.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label="File URL"
        type="url"
        placeholder="https://"
        hint="A video file that can be downloaded without signing in."
        value={source}
        onValue={setSource}
        error={submission.errorOf('source')}
      />
      <TextField
        label="Title"
        placeholder={suggested}
        value={title}
        onValue={setTitle}
        error={submission.errorOf('title')}
      />
    </FormDialog>
  );
}
