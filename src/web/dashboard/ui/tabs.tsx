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
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ href, words }) => (
        <a key={href} href={href} aria-current={href === current ? 'page' : undefined}>
          {words}
        </a>
      ))}
    </nav>
  );
}
