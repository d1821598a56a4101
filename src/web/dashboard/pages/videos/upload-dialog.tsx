import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatBytes } from '../../format/size.ts';
import { t } from '../../texts/videos.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { MoreFields } from '../../ui/form/more-fields.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { filesOf } from './drop-area.tsx';
import { FilesInput } from './files-input.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { useVideoOptions } from './new-video/use-video-options.ts';
import { VideoOptionsFields } from './new-video/video-options-fields.tsx';

/** Uploads files, or leads to the import from URLs. Options apply to all files. */
export function UploadDialog({ onClose }: { onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const chooser = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => chooser.current?.focus(), []);
  const [isImport, setImport] = useState(false);
  const [files, setFiles] = useState<readonly File[]>([]);
  const draft = useVideoOptions();
  const add = (chosen: readonly File[]) => setFiles(before => [...before, ...chosen]);
  const submission = useSubmit(async () => {
    uploadFiles(files, draft.body());
    onClose();
  });
  if (isImport) return <ImportDialog onClose={onClose} />;
  return (
    <FormDialog
      wide
      title={t('videos.upload')}
      action={files.length > 1 ? t('upload.many', { count: files.length }) : t('upload.one')}
      disabled={files.length === 0 || !draft.isValid}
      submission={submission}
      onClose={onClose}
    >
      <div class="stack">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button does the same */}
        <div class="drop-zone" onDragOver={allowFiles} onDrop={event => add(takeFiles(event))}>
          <Button icon="upload" buttonRef={chooser} onClick={() => input.current?.click()}>
            {t('upload.choose')}
          </Button>
          <span class="quiet">{t('upload.orDrop')}</span>
          {files.length === 0 && (
            <Button kind="quiet" icon="link" onClick={() => setImport(true)}>
              {t('upload.fromUrl')}
            </Button>
          )}
        </div>
        <FilesInput inputRef={input} label={t('upload.files')} onFiles={add} />
        {files.length > 0 && (
          <ul class="chosen-files" aria-label={t('upload.chosen')}>
            {files.map((file, index) => (
              <li key={`${index}-${file.name}`}>
                <span>{file.name}</span>
                <span class="quiet">{formatBytes(file.size)}</span>
                <IconButton
                  icon="close"
                  label={t('upload.remove', { name: file.name })}
                  onClick={() => setFiles(before => before.filter(other => other !== file))}
                />
              </li>
            ))}
          </ul>
        )}
      </div>
      <MoreFields label={t('upload.options')}>
        <VideoOptionsFields draft={draft} />
      </MoreFields>
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
