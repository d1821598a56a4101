import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatBytes } from '../../format/size.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { MoreFields } from '../../ui/form/more-fields.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { filesOf } from './drop-area.tsx';
import { FilesInput } from './files-input.tsx';
import { useVideoOptions } from './new-video/use-video-options.ts';
import { VideoOptionsFields } from './new-video/video-options-fields.tsx';

/** @param hasOptions shows the options of new videos at once */
export function UploadDialog({ hasOptions = false, onClose }: { hasOptions?: boolean; onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const chooser = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => chooser.current?.focus(), []);
  const [files, setFiles] = useState<readonly File[]>([]);
  const draft = useVideoOptions();
  const add = (chosen: readonly File[]) => setFiles(before => [...before, ...chosen]);
  const submission = useSubmit(async () => {
    uploadFiles(files, draft.body());
    onClose();
  });
  return (
    <FormDialog
      wide
      title={hasOptions ? 'Upload with options' : 'Upload videos'}
      action={files.length > 1 ? `Upload ${files.length} videos` : 'Upload video'}
      disabled={files.length === 0 || !draft.isValid}
      submission={submission}
      onClose={onClose}
    >
      <div class="stack">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button does the same */}
        <div class="drop-zone" onDragOver={allowFiles} onDrop={event => add(takeFiles(event))}>
          <Button icon="upload" buttonRef={chooser} onClick={() => input.current?.click()}>
            Choose files
          </Button>
          <span class="quiet">or drop them here{hasOptions && '. The options apply to all of them'}</span>
        </div>
        <FilesInput inputRef={input} label="Files to upload with these options" onFiles={add} />
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
      {hasOptions ? (
        <VideoOptionsFields draft={draft} />
      ) : (
        <MoreFields label="Options">
          <VideoOptionsFields draft={draft} />
        </MoreFields>
      )}
    </FormDialog>
  );
}

function allowFiles(event: DragEvent): void {
  if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
}

/** The list behind the dialog would upload them at once. */
function takeFiles(event: DragEvent): File[] {
  event.preventDefault();
  event.stopPropagation();
  return filesOf(event);
}
