import { can, type Scope, session } from '../state/session.ts';
import type { IconName } from '../ui/icon.tsx';

interface NavEntry {
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
  /** Hidden from roles without it. */
  readonly scope?: Scope;
  readonly isForOperator?: true;
  /** Other words by which a search finds the page. */
  readonly also?: string;
}

interface NavGroup {
  readonly title?: string;
  readonly entries: readonly NavEntry[];
}

const groups: readonly NavGroup[] = [
  {
    entries: [
      { href: '/dashboard', label: 'Overview', icon: 'home', also: 'home start' },
      {
        href: '/dashboard/live',
        label: 'Live streams',
        icon: 'live',
        also: 'broadcasts encoder OBS RTMP SRT WHIP stream key',
      },
      {
        href: '/dashboard/videos',
        label: 'Videos',
        icon: 'video',
        also: 'uploads media library recordings VOD',
      },
      {
        href: '/dashboard/analytics',
        label: 'Analytics',
        icon: 'chart',
        also: 'statistics metrics plays viewers watch time countries',
      },
    ],
  },
  {
    title: 'Project',
    entries: [
      { href: '/dashboard/players', label: 'Players', icon: 'player', also: 'themes colours logo embed' },
      { href: '/dashboard/watermarks', label: 'Watermarks', icon: 'stamp', also: 'logo overlay image' },
      { href: '/dashboard/usage', label: 'Usage', icon: 'gauge', also: 'storage bandwidth traffic bytes' },
    ],
  },
  {
    title: 'Developers',
    entries: [
      {
        href: '/dashboard/keys',
        label: 'API keys',
        icon: 'key',
        scope: 'admin',
        also: 'credentials secret access scopes signing keys signed playback',
      },
      {
        href: '/dashboard/upload-tokens',
        label: 'Upload tokens',
        icon: 'token',
        scope: 'upload',
        also: 'delegated uploads',
      },
      {
        href: '/dashboard/webhooks',
        label: 'Webhooks',
        icon: 'hook',
        scope: 'admin',
        also: 'events notifications callbacks hooks endpoints',
      },
    ],
  },
  {
    title: 'Organisation',
    entries: [
      {
        href: '/dashboard/team',
        label: 'Team',
        icon: 'team',
        also: 'members people users roles invitations invite organization',
      },
      {
        href: '/dashboard/activity',
        label: 'Activity',
        icon: 'clock',
        scope: 'admin',
        also: 'audit log history changes sign-ins',
      },
      { href: '/dashboard/projects', label: 'Projects', icon: 'folder', also: 'workspaces brands apps' },
      {
        href: '/dashboard/server',
        label: 'Server',
        icon: 'server',
        scope: 'admin',
        isForOperator: true,
        also: 'nodes state status health load disk CPU memory checks doctor version',
      },
      {
        href: '/dashboard/settings',
        label: 'Settings',
        icon: 'settings',
        also: 'change preferences configuration',
      },
    ],
  },
];

/** The groups of pages that your role in the account may open. */
export function allowedGroups(): readonly NavGroup[] {
  return groups
    .map(({ entries, ...group }) => ({ ...group, entries: entries.filter(isAllowed) }))
    .filter(({ entries }) => entries.length > 0);
}

export function isAllowed({ scope, isForOperator }: Pick<NavEntry, 'scope' | 'isForOperator'>): boolean {
  if (isForOperator && session.value?.account.isOperator !== true) return false;
  return scope === undefined || can(scope);
}
