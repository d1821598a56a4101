import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../../texts/shell.ts';
import { Button, IconButton } from '../button.tsx';
import { Form } from '../form/form.tsx';
import type { Submission } from '../form/use-submit.ts';
import { ProblemNotice } from './problem-notice.tsx';

interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, wide = false, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Runs before the first paint, so that no keystroke is lost.
  useLayoutEffect(() => {
    const dialog = element.current!;
    const opener = document.activeElement;
    dialog.showModal();
    // Skips the close button, which comes first.
    const first =
      dialog.querySelector<HTMLElement>('.dialog-body :is(input:not([type=hidden]), select, textarea)') ??
      dialog.querySelector<HTMLElement>('footer button');
    first?.focus();
    return () => {
      dialog.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog${wide ? ' wide' : ''}`}
      aria-labelledby={heading}
      onCancel={event => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <IconButton icon="close" label={t('dialog.close')} onClick={onClose} />
      </header>
      {children}
    </dialog>
  );
}

/** Shows something that was made. */
export function ResultDialog({ children, ...dialog }: DialogProps) {
  return (
    <Dialog {...dialog}>
      <div class="dialog-body">{children}</div>
      <footer>
        <Button kind="primary" onClick={dialog.onClose}>
          {t('dialog.done')}
        </Button>
      </footer>
    </Dialog>
  );
}

export function FormDialog({
  title,
  action,
  danger = false,
  disabled = false,
  wide = false,
  submission,
  onClose,
  children,
}: {
  title: string;
  action: string;
  danger?: boolean;
  disabled?: boolean;
  wide?: boolean;
  submission: Submission;
  onClose: () => void;
  children: ComponentChildren;
}) {
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      <Form class="dialog-form" submission={submission} disabled={disabled}>
        <div class="dialog-body">
          {children}
          <ProblemNotice problem={submission.notice} />
        </div>
        <footer>
          <Button kind="quiet" onClick={onClose}>
            {t('dialog.cancel')}
          </Button>
          <Button
            kind={danger ? 'danger' : 'primary'}
            type="submit"
            busy={submission.busy}
            disabled={disabled}
          >
            {action}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
