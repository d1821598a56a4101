import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isRightToLeft } from '../../state/texts.ts';

const gap = 4;

/**
 * A panel that a button opens, below it or else above. It closes when something else is pressed or gets the focus.
 * @param first selects what gets the focus
 * @param options.moves keeps the panel at its button when the page moves, instead of closing it
 */
export function usePopover<Root extends HTMLElement>(
  first: string,
  options: { readonly side: 'start' | 'end'; readonly moves: boolean },
) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<Root>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  // A scroll may come between the end of the panel and that of its effects.
  const follow = () => {
    if (panel.current !== null && button.current !== null) place(panel.current, button.current, options.side);
  };
  useLayoutEffect(() => {
    if (!isOpen) return;
    panel.current!.showPopover();
    follow();
    panel.current!.querySelector<HTMLElement>(first)?.focus({ preventScroll: true });
  }, [isOpen]);
  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = ({ target }: Event) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    const moved = ({ target }: Event) => {
      // A long list scrolls itself.
      if (options.moves) follow();
      else if (!(target instanceof Node && panel.current?.contains(target))) setOpen(false);
    };
    // Loaded content changes the size.
    const observer = new ResizeObserver(follow);
    if (panel.current !== null) observer.observe(panel.current);
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    document.addEventListener('scroll', moved, { capture: true, passive: true });
    addEventListener('resize', moved);
    return () => {
      observer.disconnect();
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
      document.removeEventListener('scroll', moved, { capture: true });
      removeEventListener('resize', moved);
    };
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return { isOpen, toggle: () => setOpen(!isOpen), close, root, button, panel };
}

function place(panel: HTMLElement, button: HTMLElement, side: 'start' | 'end'): void {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { width, height } = panel.getBoundingClientRect();
  const fits = bottom + gap + height <= innerHeight || top < gap + height;
  panel.style.top = `${fits ? bottom + gap : top - gap - height}px`;
  const wanted = (side === 'start') === isRightToLeft() ? right - width : left;
  panel.style.left = `${Math.max(gap, Math.min(wanted, document.documentElement.clientWidth - width - gap))}px`;
}
