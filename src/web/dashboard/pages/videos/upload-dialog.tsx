import { useRef, useState } from 'preact/hooks';
import { formatBytes } from '../../format/size.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { FilesInput } from './files-input.tsx';
import { useVideoOptions } from './new-video/use-video-options.ts';
import { VideoOptionsFields } from './new-video/video-options-fields.tsx';

export function UploadDialog({ onClose }: { onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [files, setFiles] = useState<readonly File[]>([]);
  const draft = useVideoOptions();
  const submission = useSubmit(async () => {
    uploadFiles(files, draft.body());
    onClose();
  });
  return (
    <FormDialog
      wide
      title="Upload with options"
      action={files.length > 1 ? `Upload ${files.length} videos` : 'Upload video'}
      disabled={files.length === 0 || !draft.isValid}
      submission={submission}
      onClose={onClose}
    >
      <div class="stack">
        <div class="actions">
          <Button icon="upload" onClick={() => input.current?.click()}>
            Choose files
          </Button>
          {files.length === 0 && <span class="quiet">The options apply to all of them.</span>}
        </div>
        <FilesInput
          inputRef={input}
          label="Files to upload with these options"
          onFiles={chosen => setFiles(before => [...before, ...chosen])}
        />
        {files.length > 0 && (
          <ul class="chosen-files" aria-label="Files">
            {files.map((file, index) => (
              <li key={`${index}-${file.name}`}>
                <span>{file.name}</span>
                <span class="quiet">{formatBytes(file.size)}</span>
                <IconButton
                  icon="close"
                  label={`Remove ${file.name}`}
                  onClick={() => setFiles(before => before.filter(other => other !== file))}
                />
              </li>
            ))}
          </ul>
        )}
      </div>
      <VideoOptionsFields draft={draft} />
    </FormDialog>
  );
}
