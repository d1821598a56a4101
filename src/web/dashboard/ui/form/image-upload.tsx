import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { t } from '../../texts/shell.ts';
import { Button } from '../button.tsx';
import { ProblemNotice } from '../dialog/problem-notice.tsx';
import { showToast } from '../toast.tsx';
import { useSubmit } from './use-submit.ts';

interface ImageUploadProps {
  readonly name: 'logo' | 'thumbnail';
  /** Name of the field for screen readers. */
  readonly label: string;
  readonly types: string;
  readonly uploadLabel?: string;
  readonly isRemovable: boolean;
  readonly upload: (body: FormData) => Promise<void>;
  readonly remove: () => Promise<void>;
  /** The hint below the image. */
  readonly children: ComponentChildren;
}

/** An image that is saved as soon as it is chosen, and removed without a question. */
export function ImageUpload({
  name,
  label,
  types,
  uploadLabel = t(`image.upload.${name}`),
  isRemovable,
  upload,
  remove,
  children,
}: ImageUploadProps) {
  const input = useRef<HTMLInputElement>(null);
  const hint = useId();
  const sending = useSubmit(async () => {
    const file = input.current?.files?.[0];
    if (file === undefined) return;
    const body = new FormData();
    body.append('file', file);
    try {
      await upload(body);
      showToast(t(`image.uploaded.${name}`));
    } finally {
      // Allows the same file to be chosen again.
      if (input.current !== null) input.current.value = '';
    }
  });
  const removal = useSubmit(async () => {
    await remove();
    showToast(t(`image.removed.${name}`));
  });
  return (
    <>
      <p class="hint" id={hint}>
        {children}
      </p>
      <input
        ref={input}
        class="for-readers"
        type="file"
        accept={types}
        aria-label={label}
        aria-describedby={hint}
        tabIndex={-1}
        onChange={() => {
          removal.clear();
          sending.submit();
        }}
      />
      <ProblemNotice problem={sending.problem ?? removal.problem} />
      <div class="actions">
        <Button icon="upload" busy={sending.busy} onClick={() => input.current?.click()}>
          {uploadLabel}
        </Button>
        {isRemovable && (
          <Button
            kind="quiet"
            icon="trash"
            busy={removal.busy}
            onClick={() => {
              sending.clear();
              removal.submit();
            }}
          >
            {t(`image.remove.${name}`)}
          </Button>
        )}
      </div>
    </>
  );
}
