import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { guardHistory } from '../../state/history-guard.ts';
import { Button } from '../button.tsx';
import { Dialog } from './dialog.tsx';

/** What leads away from a page: links, and controls that are marked with `data-leaves`. */
const exitSelector = 'a[href], [data-leaves]';

/**
 * Asks before a page with unsaved changes is left: by a link, by the browser's own buttons, or by closing it. Put it somewhere in the page.
 *
 * @param isActive whether there is something that would be lost
 */
export function LeaveGuard({ isActive }: { isActive: boolean }) {
  /** Goes on with what was held back. */
  const [held, setHeld] = useState<() => void>();
  const isLeaving = useRef(false);
  // Before anything is painted: who leaves right after typing is asked too.
  useLayoutEffect(() => {
    if (!isActive) return;
    const ownAddress = location.href;
    const onClick = (event: MouseEvent) => {
      if (isLeaving.current || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      const exit = event.target instanceof Element ? event.target.closest<HTMLElement>(exitSelector) : null;
      if (exit === null || exit.getAttribute('target') === '_blank' || exit.hasAttribute('download')) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      setHeld(() => () => exit.click());
    };
    const onPopState = (event: PopStateEvent) => {
      if (isLeaving.current) return;
      event.stopImmediatePropagation();
      // The address has changed already.
      history.pushState(null, '', ownAddress);
      setHeld(() => () => history.back());
    };
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('click', onClick, true);
    guardHistory(onPopState);
    addEventListener('beforeunload', onUnload);
    return () => {
      removeEventListener('click', onClick, true);
      guardHistory(undefined);
      removeEventListener('beforeunload', onUnload);
    };
  }, [isActive]);
  if (held === undefined) return null;
  return (
    <Dialog title="Leave without saving?" onClose={() => setHeld(undefined)}>
      <div class="dialog-body">
        <p>What you changed here is not saved yet.</p>
      </div>
      <footer>
        <Button kind="quiet" onClick={() => setHeld(undefined)}>
          Stay here
        </Button>
        <Button
          kind="danger"
          onClick={() => {
            isLeaving.current = true;
            setHeld(undefined);
            held();
          }}
        >
          Discard and leave
        </Button>
      </footer>
    </Dialog>
  );
}
