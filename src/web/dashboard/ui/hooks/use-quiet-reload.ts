import { useEffect, useRef, useState } from 'preact/hooks';
import type { Loaded } from './use-load.ts';

const debounceMs = 700;

export interface QuietReload {
  /** Reloads soon, or when the pointer leaves the list. */
  readonly reload: () => void;
  readonly isWaiting: boolean;
  /** Reloads what waits. */
  readonly show: () => void;
  readonly frame: {
    readonly onPointerEnter: (event: PointerEvent) => void;
    readonly onPointerLeave: () => void;
  };
}

/** Holds reloads of a list while the pointer is on it, because they may move what is about to be clicked. */
export function useQuietReload({ reload }: Pick<Loaded<unknown>, 'reload'>): QuietReload {
  const [isWaiting, setWaiting] = useState(false);
  const isHeld = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = () => {
    clearTimeout(timer.current);
    setWaiting(false);
    reload();
  };
  const showSoon = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      if (isHeld.current) setWaiting(true);
      else show();
    }, debounceMs);
  };
  return {
    reload: showSoon,
    isWaiting,
    show,
    frame: {
      onPointerEnter: ({ pointerType }) => {
        isHeld.current = pointerType === 'mouse';
      },
      onPointerLeave: () => {
        isHeld.current = false;
        if (isWaiting) showSoon();
      },
    },
  };
}
