import { useLayoutEffect, useRef } from 'preact/hooks';
import { isRightToLeft } from '../state/texts.ts';

/** Links to the parts of a page, so that the back button, reloads and new browser tabs show the same part. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  label: string;
  tabs: readonly { readonly href: string; readonly label: string }[];
  /** The address of the tab that is shown. */
  current: string;
}) {
  const row = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const shown = row.current?.querySelector<HTMLElement>('[aria-current]');
    if (!shown) return;
    const start = isRightToLeft() ? 'right' : 'left';
    row.current!.scrollLeft +=
      shown.getBoundingClientRect()[start] - row.current!.getBoundingClientRect()[start];
  }, [current]);
  return (
    <nav ref={row} class="tabs" aria-label={label}>
      {tabs.map(({ href, label }) => (
        <a key={href} href={href} aria-current={href === current ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
