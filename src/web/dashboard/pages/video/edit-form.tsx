import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { can } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { t as listText } from '../../texts/videos.ts';
import { Button } from '../../ui/button.tsx';
import { LeaveGuard } from '../../ui/dialog/leave-guard.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { SubmissionContext } from '../../ui/form/form-context.tsx';
import type { Submission } from '../../ui/form/use-submit.ts';

/** A form in place of what it edits. Escape closes it unless something would be lost. */
export function EditForm({
  submission,
  isChanged,
  onClose,
  children,
}: {
  submission: Submission;
  isChanged: boolean;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const form = useRef<HTMLFormElement>(null);
  // Runs before the first paint, so that no keystroke is lost.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus(), []);
  return (
    <form
      ref={form}
      class="form-grid"
      noValidate
      onSubmit={submission.submit}
      onKeyDown={event => {
        // Input methods end a composition with it.
        if (event.key === 'Escape' && !event.isComposing && !isChanged) onClose();
      }}
    >
      <SubmissionContext submission={submission}>
        {children}
        <FormActions>
          <Button kind="quiet" onClick={onClose}>
            {t('editForm.cancel')}
          </Button>
        </FormActions>
      </SubmissionContext>
      <LeaveGuard isActive={isChanged} />
    </form>
  );
}

/** Hidden from roles that can only view. */
export function EditButton({
  buttonRef,
  label,
  onClick,
}: {
  buttonRef: RefObject<HTMLButtonElement | null>;
  label: string;
  onClick: () => void;
}) {
  if (!can('upload')) return null;
  return (
    <Button small icon="edit" label={label} buttonRef={buttonRef} onClick={onClick}>
      {listText('videos.edit')}
    </Button>
  );
}

export function useReturnedFocus(isEditing: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useLayoutEffect(() => {
    if (wasEditing.current && !isEditing) button.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  return button;
}
