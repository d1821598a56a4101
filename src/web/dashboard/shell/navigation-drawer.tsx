import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../texts/shell.ts';
import { IconButton } from '../ui/button.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { Navigation } from './navigation.tsx';
import { ProjectSwitch } from './project-switch.tsx';

/** The navigation on narrow screens. The dialog keeps the focus, and gives it back to what opened it. */
export function NavigationDrawer({ onClose }: { onClose: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const drawer = element.current!;
    const opener = document.activeElement;
    const wide = matchMedia('(min-width: 861px)');
    drawer.showModal();
    wide.addEventListener('change', onClose);
    return () => {
      wide.removeEventListener('change', onClose);
      drawer.close();
      if (opener instanceof HTMLElement && document.activeElement === document.body) opener.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog
      ref={element}
      class="drawer"
      aria-label={t('shell.navigation')}
      onCancel={event => {
        event.preventDefault();
        onClose();
      }}
      onClick={event => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="drawer-content">
        <div class="drawer-head">
          <EnvironmentSwitch />
          <IconButton icon="close" label={t('shell.closeNavigation')} onClick={onClose} />
        </div>
        <ProjectSwitch onGo={onClose} />
        <Navigation onGo={onClose} />
      </div>
    </dialog>
  );
}
