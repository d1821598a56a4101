import type { ComponentChildren } from 'preact';
import { t } from '../../texts/shell.ts';
import { Button } from '../button.tsx';
import { ProblemNotice } from '../dialog/problem-notice.tsx';
import { useSubmission } from './form-context.tsx';

/** End of a form: what went wrong, the button that submits it, and others. */
export function FormActions({
  action = t('form.save'),
  disabled = false,
  children,
}: {
  action?: string;
  disabled?: boolean;
  children?: ComponentChildren;
}) {
  const submission = useSubmission();
  return (
    <>
      <ProblemNotice problem={submission?.notice} />
      <div class="actions">
        <Button kind="primary" type="submit" busy={submission?.busy ?? false} disabled={disabled}>
          {action}
        </Button>
        {children}
      </div>
    </>
  );
}
