import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { ApiProblem } from '../../api/problem.ts';
import { Button, IconButton } from '../button.tsx';
import { Form } from '../form/form.tsx';
import type { Submission } from '../form/use-submit.ts';
import { Notice } from '../notice.tsx';

/** A window over the page. Escape and the cross close it; the keyboard stays inside. */
export function Dialog({
  title,
  wide = false,
  onClose,
  children,
}: {
  title: string;
  wide?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before anything is painted: keys that are typed right away are not lost.
  useLayoutEffect(() => {
    const dialog = element.current!;
    const opener = document.activeElement;
    dialog.showModal();
    // The cross is the first in order, and the last that anybody wants.
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
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      {children}
    </dialog>
  );
}

/** A window with a form: its fields, what is wrong, and two buttons. Enter sends it. */
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
  /** Words on the button that does it. */
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
          <ProblemNotice problem={submission.problem} />
        </div>
        <footer>
          <Button kind="quiet" onClick={onClose}>
            Cancel
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

/** What went wrong, in a box; nothing when nothing did. */
export function ProblemNotice({ problem }: { problem: ApiProblem | undefined }) {
  if (problem === undefined) return null;
  return <Notice tone="bad">{problem.text}</Notice>;
}
