import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { SubmissionContext } from './form-context.tsx';
import type { Submission } from './use-submit.ts';

export function Form({
  submission,
  disabled = false,
  class: kind = 'form-grid',
  label,
  onKeyDown,
  onFocusOut,
  children,
}: {
  submission: Submission;
  disabled?: boolean;
  class?: string;
  label?: string;
  onKeyDown?: (event: KeyboardEvent) => void;
  onFocusOut?: () => void;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLFormElement>(null);
  const { problem } = submission;
  useEffect(() => {
    if (problem === undefined) return;
    const invalid = element.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    invalid?.focus();
    // Scrolls to the whole field, including the explanation below it.
    invalid?.closest('.field')?.scrollIntoView({ block: 'nearest' });
  }, [problem]);
  return (
    <form
      ref={element}
      class={kind}
      noValidate
      aria-label={label}
      onKeyDown={event => onKeyDown?.(event)}
      onFocusOut={() => onFocusOut?.()}
      onSubmit={event => {
        if (disabled) event.preventDefault();
        else submission.submit(event);
      }}
    >
      <SubmissionContext submission={submission}>{children}</SubmissionContext>
    </form>
  );
}
