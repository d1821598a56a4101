import { can, type Scope } from '../state/session.ts';
import { useLocation } from '../ui/hooks/use-location.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

interface Entry {
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
  /** Hidden from roles without it. */
  readonly scope?: Scope;
}

const groups: readonly { readonly title?: string; readonly entries: readonly Entry[] }[] = [
  {
    entries: [
      { href: '/dashboard', label: 'Overview', icon: 'home' },
      { href: '/dashboard/live', label: 'Live streams', icon: 'live' },
      { href: '/dashboard/videos', label: 'Videos', icon: 'video' },
      { href: '/dashboard/analytics', label: 'Analytics', icon: 'chart' },
    ],
  },
  {
    title: 'Project',
    entries: [
      { href: '/dashboard/players', label: 'Players', icon: 'player' },
      { href: '/dashboard/watermarks', label: 'Watermarks', icon: 'stamp' },
      { href: '/dashboard/settings', label: 'Settings', icon: 'settings' },
    ],
  },
  {
    title: 'Developers',
    entries: [
      { href: '/dashboard/keys', label: 'API keys', icon: 'key', scope: 'admin' },
      { href: '/dashboard/upload-tokens', label: 'Upload tokens', icon: 'token', scope: 'upload' },
      { href: '/dashboard/webhooks', label: 'Webhooks', icon: 'hook', scope: 'admin' },
    ],
  },
];

export function Navigation({ onGo }: { onGo: () => void }) {
  const { path } = useLocation();
  const allowed = groups.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ scope }) => scope === undefined || can(scope)),
  }));
  return (
    <nav class="navigation" aria-label="Dashboard">
      {allowed
        .filter(({ entries }) => entries.length > 0)
        .map(({ title, entries }) => (
          <div key={title ?? ''} class="nav-group">
            {title !== undefined && <p class="nav-title">{title}</p>}
            <ul>
              {entries.map(({ href, label, icon }) => (
                <li key={href}>
                  <a href={href} aria-current={isWithin(path, href) ? 'page' : undefined} onClick={onGo}>
                    <Icon name={icon} />
                    {label}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
    </nav>
  );
}

function isWithin(path: string, href: string): boolean {
  return path === href || (href !== '/dashboard' && path.startsWith(`${href}/`));
}
