import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../../texts/shell.ts';
import { useSubmission } from './form-context.tsx';

/** Fields that few people need. Opens when one of them has an error. */
export function MoreFields({
  label = t('form.advanced'),
  children,
}: {
  label?: string;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDetailsElement>(null);
  const problem = useSubmission()?.problem;
  // Runs before the form focuses the field.
  useLayoutEffect(() => {
    const { current: details } = element;
    if (problem !== undefined && details?.querySelector('[aria-invalid=true]') != null) details.open = true;
  }, [problem]);
  return (
    <details class="more-options" ref={element}>
      <summary>{label}</summary>
      <div class="stack">{children}</div>
    </details>
  );
}
