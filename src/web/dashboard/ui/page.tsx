import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { withBasePath } from '../../shared/base-path.ts';
import { stepsBackTo } from '../state/history-entries.ts';
import { t } from '../texts/shell.ts';
import { useLocation } from './hooks/use-location.ts';
import { Icon } from './icon.tsx';

/** The chapter of the documentation that explains the page, below `/docs/`. */
export const DocsLink = createContext<string | undefined>(undefined);

let shownPath: string | undefined;
let headingHadFocus = false;

export function Page({
  title,
  lead,
  back,
  badge,
  actions,
  children,
}: {
  title: string;
  lead?: ComponentChildren;
  back?: { readonly href: string; readonly label: string };
  badge?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const docs = useContext(DocsLink);
  const heading = useRef<HTMLHeadingElement>(null);
  // After the back button, the scroll position is restored.
  const { wasPush } = useLocation();
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  // Runs before the first paint, so that a field that is clicked keeps the focus.
  useLayoutEffect(() => {
    const element = heading.current!;
    // The browser decides the focus on the first page.
    const isNext = shownPath !== undefined && shownPath !== location.pathname;
    // Keeps the focus on a message that offers to undo.
    const isInMessage = document.activeElement?.closest('.toasts') != null;
    if ((isNext || headingHadFocus) && !isInMessage) element.focus({ preventScroll: true });
    if (isNext && wasPush === true) scrollTo(0, 0);
    shownPath = location.pathname;
    return () => {
      headingHadFocus = document.activeElement === element;
    };
  }, []);
  return (
    <div class="page">
      {back !== undefined && (
        <a class="back" href={back.href} onClick={event => goBack(event, back.href)}>
          <Icon name="left" size={16} />
          {back.label}
        </a>
      )}
      <header class="page-head">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1} dir="auto">
            {title}
          </h1>
          {badge}
          {docs !== undefined && lead === undefined && <LearnMore docs={docs} />}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
        {lead !== undefined && (
          <p class="lead">
            {lead} {docs !== undefined && <LearnMore docs={docs} />}
          </p>
        )}
      </header>
      {children}
    </div>
  );
}

/** Opens a chapter of the documentation in another tab. @param docs such as `webhooks#test-it` */
export function LearnMore({ docs, children = t('page.learnMore') }: { docs: string; children?: string }) {
  return (
    <a class="learn-more" href={withBasePath(`/docs/${docs}`)} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

/** Goes to a list as it was: with its filters, and where it was scrolled. */
function goBack(event: MouseEvent, href: string): void {
  const steps = stepsBackTo(href);
  if (steps === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  // The router would follow the link.
  event.stopPropagation();
  history.go(-steps);
}

interface BoxProps {
  /** Links lead to it, such as `#password`. */
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Content on the page itself, without a box. `isSplit` puts the heading beside it, for forms. */
export function Section({ isSplit = false, ...props }: BoxProps & { readonly isSplit?: boolean }) {
  return <Box kind="section" variant={isSplit ? ' split' : ''} {...props} />;
}

/** A thing in a box, or an aside. */
export function Card({ flush = false, ...props }: BoxProps & { readonly flush?: boolean }) {
  return <Box kind="card" variant={flush ? ' flush' : ''} {...props} />;
}

function Box({
  kind,
  variant,
  id,
  title,
  lead,
  actions,
  children,
}: BoxProps & { readonly kind: 'section' | 'card'; readonly variant: string }) {
  return (
    <section
      id={id}
      tabIndex={id === undefined ? undefined : -1}
      class={`${kind}${variant}`}
      aria-label={title}
    >
      {(title !== undefined || actions !== undefined) && (
        <header class={`${kind}-head`}>
          {title !== undefined && <h2>{title}</h2>}
          {actions !== undefined && <div class="actions">{actions}</div>}
          {lead !== undefined && <p class="hint">{lead}</p>}
        </header>
      )}
      <div class={`${kind}-body`}>{children}</div>
    </section>
  );
}

export function DetailList({
  rows,
}: {
  rows: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
