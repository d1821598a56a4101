import { t } from '../texts/shell.ts';
import { useLocation } from '../ui/hooks/use-location.ts';
import { Icon } from '../ui/icon.tsx';
import { allowedGroups } from './nav-groups.ts';

export function Navigation({ onGo }: { onGo?: () => void }) {
  const { path } = useLocation();
  return (
    <nav class="navigation" aria-label={t('shell.dashboard')}>
      {allowedGroups().map(({ title, entries }) => (
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
