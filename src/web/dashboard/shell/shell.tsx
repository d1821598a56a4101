import { useEffect, useRef, useState } from 'preact/hooks';
import { feedState } from '../api/feed.ts';
import { environment } from '../state/session.ts';
import { t } from '../texts/shell.ts';
import { IconButton } from '../ui/button.tsx';
import { useLocation } from '../ui/hooks/use-location.ts';
import { Icon } from '../ui/icon.tsx';
import { Toasts } from '../ui/toast.tsx';
import { UploadDock } from '../uploads/upload-dock.tsx';
import { AccountMenu } from './account-menu.tsx';
import { CreateMenus } from './create-menus.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { Navigation } from './navigation.tsx';
import { NavigationDrawer } from './navigation-drawer.tsx';
import { Outlet } from './outlet.tsx';
import { ProjectSwitch } from './project-switch.tsx';
import { SearchButton } from './search-button.tsx';
import { ShellDialogs } from './shell-dialogs.tsx';

export function Shell() {
  const { path } = useLocation();
  const [isOpen, setOpen] = useState(false);
  // Back leads to another page.
  useEffect(() => setOpen(false), [path]);
  const main = useRef<HTMLElement>(null);
  return (
    <div class={`shell ${environment.value}`}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t('shell.skip')}
      </button>
      <header class="top">
        <span class="nav-toggle">
          <IconButton
            icon="menu"
            label={t('shell.openNavigation')}
            expanded={isOpen}
            onClick={() => setOpen(true)}
          />
        </span>
        <a class="brand" href="/dashboard">
          <span class="brand-mark" aria-hidden="true">
            <Icon name="play" size={16} />
          </span>
          Millrace
        </a>
        <SearchButton />
        <CreateMenus />
        <span class="environment-here">
          {environment.value === 'sandbox' && t('environment.name.sandbox')}
        </span>
        <EnvironmentSwitch />
        <AccountMenu />
      </header>
      <div class="side">
        <ProjectSwitch />
        <Navigation />
      </div>
      {isOpen && <NavigationDrawer onClose={() => setOpen(false)} />}
      <div class="content">
        <main id="main" ref={main} tabIndex={-1}>
          {feedState.value === 'lost' && (
            <p class="connection" role="status">
              {t('shell.reconnecting')}
            </p>
          )}
          <Outlet />
          <ShellDialogs />
        </main>
        <div class="corner">
          <Toasts />
          <UploadDock />
        </div>
      </div>
    </div>
  );
}
