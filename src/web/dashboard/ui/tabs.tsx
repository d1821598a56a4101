import { useLayoutEffect, useRef } from 'preact/hooks';

export function Tabs({
  label,
  tabs,
  current,
}: {
  label: string;
  tabs: readonly { readonly href: string; readonly words: string }[];
  current: string;
}) {
  const row = useRef<HTMLElement>(null);
  // The row is wider than a phone's screen.
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
