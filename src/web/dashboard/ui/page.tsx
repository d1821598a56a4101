import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Icon } from './icon.tsx';

/** Address of the page that was shown last. */
let shownPath: string | undefined;
/** Whether the heading that was there before had the keyboard: that of a page that was still being loaded. */
let headingHadFocus = false;

/** A page of the dashboard: its heading, what can be done on all of it, its content. Screen readers begin at the heading. */
export function Page({
  title,
  lead,
  back,
  badge,
  actions,
  children,
}: {
  title: string;
  /** A sentence under the heading. */
  lead?: ComponentChildren;
  /** The list that this is a part of. */
  back?: { readonly href: string; readonly words: string };
  badge?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The types of the router leave it out: false after the way back, where the browser restores the scroll position.
  const { wasPush } = useLocation() as { wasPush?: boolean };
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  // Before anything is painted: a field that is clicked right away keeps the keyboard.
  useLayoutEffect(() => {
    const element = heading.current!;
    // Not when the dashboard was just opened: then the browser's own place is right.
    const isNext = shownPath !== undefined && shownPath !== location.pathname;
    // Nor from a message that offers to undo what led here.
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
        <a class="back" href={back.href}>
          <Icon name="left" size={16} />
          {back.words}
        </a>
      )}
      <header class="page-head">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {badge}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
        {lead !== undefined && <p class="lead">{lead}</p>}
      </header>
      {children}
    </div>
  );
}

/** A panel of a page. */
export function Card({
  title,
  actions,
  flush = false,
  children,
}: {
  title?: string;
  actions?: ComponentChildren;
  /** Without space around the content: for tables and pictures. */
  flush?: boolean;
  children: ComponentChildren;
}) {
  return (
    <section class={`card${flush ? ' flush' : ''}`} aria-label={title}>
      {(title !== undefined || actions !== undefined) && (
        <header class="card-head">
          {title !== undefined && <h2>{title}</h2>}
          {actions !== undefined && <div class="actions">{actions}</div>}
        </header>
      )}
      <div class="card-body">{children}</div>
    </section>
  );
}

/** Names and values, one under the other. */
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
