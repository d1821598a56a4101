import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';

/** A page for people who are not signed in. */
export function SignInCard({
  title,
  documentTitle = title,
  onSubmit,
  children,
}: {
  title: string;
  documentTitle?: string;
  onSubmit?: (event: Event) => void;
  children: ComponentChildren;
}) {
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
      {onSubmit === undefined ? (
        <div class="sign-in-card">{content}</div>
      ) : (
        <form class="sign-in-card" noValidate onSubmit={onSubmit}>
          {content}
        </form>
      )}
    </main>
  );
}
