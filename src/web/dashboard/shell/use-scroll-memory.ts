import { useEffect, useLayoutEffect } from 'preact/hooks';
import { enterPage, scrollOfPage, scrollWhenLoaded } from '../state/history-entries.ts';
import { useLocation } from '../ui/hooks/use-location.ts';

/** Scrolls to where a page was before, or to the part of it that a link leads to. @param shown differs for each page */
export function useScrollMemory(shown: string | undefined): void {
  const { path, query, wasPush = false } = useLocation();
  const address = `${path} ${JSON.stringify(query)} ${location.hash}`;
  useLayoutEffect(() => enterPage(wasPush), [address]);
  useEffect(() => {
    if (shown === undefined) return;
    const part = location.hash.slice(1);
    if (wasPush && part === '') return;
    const scrollY = scrollOfPage();
    if (part !== '' && scrollY === 0) return scrollWhenLoaded(() => showPart(part));
    if (scrollY > 0) return scrollWhenLoaded(() => restore(scrollY));
  }, [shown, location.hash]);
}

function showPart(id: string): boolean {
  const part = document.getElementById(id);
  if (part === null) return false;
  part.scrollIntoView({ block: part.clientHeight > innerHeight / 2 ? 'start' : 'center' });
  part.focus({ preventScroll: true });
  // Content above it may still grow.
  return document.querySelector('main .skeleton') === null;
}

function restore(scrollY: number): boolean {
  const root = document.documentElement;
  const isTallEnough = root.scrollHeight - innerHeight >= scrollY - 1;
  if (isTallEnough) scrollTo(0, scrollY);
  return isTallEnough;
}
