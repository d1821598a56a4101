import { useLayoutEffect, useRef } from 'preact/hooks';

/** Parts of a page, one of which is shown; each has an address of its own. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  label: string;
  tabs: readonly { readonly href: string; readonly words: string }[];
  /** `href` of the one that is shown. */
  current: string;
}) {
  const row = useRef<HTMLElement>(null);
  // On a phone the row is wider than the screen.
  useLayoutEffect(() => {
    const shown = row.current?.querySelector<HTMLElement>('[aria-current]');
    if (shown) row.current!.scrollLeft = shown.offsetLeft - row.current!.offsetLeft;
  }, [current]);
  return (
    <nav ref={row} class="tabs" aria-label={label}>
      {tabs.map(({ href, words }) => (
        <a key={href} href={href} aria-current={href === current ? 'page' : undefined}>
          {words}
        </a>
      ))}
    </nav>
  );
}
