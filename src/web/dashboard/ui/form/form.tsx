import type { ComponentChildren } from 'preact';
import type { Submission } from './use-submit.ts';

/** Fields that are sent together, by their button or with Enter; by neither while they are `disabled`. */
export function Form({
  submission,
  disabled = false,
  class: kind = 'form-grid',
  label,
  children,
}: {
  submission: Submission;
  disabled?: boolean;
  class?: string;
  /** Its name for screen readers, where it stands for itself. */
  label?: string;
  children: ComponentChildren;
}) {
  return (
    <form
      class={kind}
      noValidate
      aria-label={label}
      onSubmit={event => {
        if (disabled) event.preventDefault();
        else submission.submit(event);
      }}
    >
      {children}
    </form>
  );
}
