import type { ComponentChildren } from 'preact';
import type { Submission } from './use-submit.ts';

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
