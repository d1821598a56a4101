import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { SubmissionContext } from '../ui/form/form-context.tsx';
import type { Submission } from '../ui/form/use-submit.ts';
import { Icon } from '../ui/icon.tsx';

/** A page for people who are not signed in. */
export function SignInCard({
  title,
  documentTitle = title,
  submission,
  onSubmit = submission?.submit,
  children,
}: {
  title: string;
  documentTitle?: string;
  children: ComponentChildren;
} & (
  | { submission?: never; onSubmit?: never }
  /** `onSubmit` replaces that of `submission`. */
  | { submission: Submission; onSubmit?: (event: Event) => void }
)) {
  useEffect(() => {
    document.title = `${documentTitle} · Millrace`;
  }, [documentTitle]);
  const content = (
    <>
      <span class="brand-mark large" aria-hidden="true">
        <Icon name="play" size={26} />
      </span>
      <h1>{title}</h1>
      {children}
    </>
  );
  return (
    <main class="sign-in">
      {submission === undefined ? (
        <div class="sign-in-card">{content}</div>
      ) : (
        <form class="sign-in-card" noValidate onSubmit={onSubmit}>
          <SubmissionContext submission={submission}>{content}</SubmissionContext>
        </form>
      )}
    </main>
  );
}
