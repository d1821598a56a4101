import { useEffect, useRef, useState } from 'preact/hooks';
import { feedState } from '../api/feed.ts';
import { environment } from '../state/session.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Toasts } from '../ui/toast.tsx';
import { UploadDock } from '../uploads/upload-dock.tsx';
import { AccountMenu } from './account-menu.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { Navigation } from './navigation.tsx';
import { Outlet } from './outlet.tsx';
import { ProjectSwitch } from './project-switch.tsx';

export function Shell() {
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setOpen(false);
    };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [isOpen]);
  return (
    <div class={`shell ${environment.value}${isOpen ? ' nav-open' : ''}`}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <span class="nav-toggle">
          <IconButton
            icon={isOpen ? 'close' : 'menu'}
            label={isOpen ? 'Close navigation' : 'Open navigation'}
            pressed={isOpen}
            onClick={() => setOpen(!isOpen)}
          />
        </span>
        <a class="brand" href="/dashboard">
          <span class="brand-mark" aria-hidden="true">
            <Icon name="play" size={16} />
          </span>
          Millrace
        </a>
        <EnvironmentSwitch />
        <AccountMenu />
      </header>
      <div class="side">
        <ProjectSwitch onGo={() => setOpen(false)} />
        <Navigation onGo={() => setOpen(false)} />
      </div>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Escape and the button do the same */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: likewise */}
      <div class="shade" onClick={() => setOpen(false)} />
      <div class="content">
        <main id="main" ref={main} tabIndex={-1}>
          {feedState.value === 'lost' && (
            <p class="connection" role="status">
              Connection lost. Reconnecting…
            </p>
          )}
          <Outlet />
        </main>
        <div class="corner">
          <Toasts />
          <UploadDock />
        </div>
      </div>
    </div>
  );
}
