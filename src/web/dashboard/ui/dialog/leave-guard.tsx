import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { guardHistory } from '../../state/history-guard.ts';
import { t } from '../../texts/shell.ts';
import { Button } from '../button.tsx';
import { Dialog } from './dialog.tsx';

const exitSelector = 'a[href], [data-leaves]';

export function LeaveGuard({
  isActive,
  title = t('leave.title'),
  action = t('leave.action'),
  children = t('leave.text'),
}: {
  isActive: boolean;
  title?: string;
  action?: string;
  children?: ComponentChildren;
}) {
  const [held, setHeld] = useState<() => void>();
  const isLeaving = useRef(false);
  // Runs before the first paint, so that leaving right after typing is guarded, too.
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
      // The URL has already changed.
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
    <Dialog title={title} onClose={() => setHeld(undefined)}>
      <div class="dialog-body">
        <p>{children}</p>
      </div>
      <footer>
        <Button kind="quiet" onClick={() => setHeld(undefined)}>
          {t('leave.stay')}
        </Button>
        <Button
          kind="danger"
          onClick={() => {
            isLeaving.current = true;
            setHeld(undefined);
            held();
          }}
        >
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
