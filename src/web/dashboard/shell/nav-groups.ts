import { can, type Scope, session } from '../state/session.ts';
import { t } from '../texts/shell.ts';
import type { IconName } from '../ui/icon.tsx';

interface NavEntry {
  readonly href: string;
  readonly label: NavText;
  readonly icon: IconName;
  /** Hidden from roles without it. */
  readonly scope?: Scope;
  readonly isForOperator?: true;
  /** Other words by which a search finds the page. */
  readonly also?: string;
}

interface NavGroup {
  readonly title?: NavText;
  readonly entries: readonly NavEntry[];
}

interface ShownGroup {
  readonly title: string | undefined;
  readonly entries: readonly (Omit<NavEntry, 'label'> & { readonly label: string })[];
}

type NavText = Extract<Parameters<typeof t>[0], `nav.${string}`>;

const groups: readonly NavGroup[] = [
  {
    entries: [
      { href: '/dashboard', label: 'nav.overview', icon: 'home', also: 'home start' },
      {
        href: '/dashboard/live',
        label: 'nav.live',
        icon: 'live',
        also: 'broadcasts encoder OBS RTMP SRT WHIP stream key',
      },
      {
        href: '/dashboard/videos',
        label: 'nav.videos',
        icon: 'video',
        also: 'uploads media library recordings VOD',
      },
      {
        href: '/dashboard/analytics',
        label: 'nav.analytics',
        icon: 'chart',
        also: 'statistics metrics plays viewers watch time countries',
      },
    ],
  },
  {
    title: 'nav.project',
    entries: [
      { href: '/dashboard/players', label: 'nav.players', icon: 'player', also: 'themes colours logo embed' },
      { href: '/dashboard/watermarks', label: 'nav.watermarks', icon: 'stamp', also: 'logo overlay image' },
      {
        href: '/dashboard/usage',
        label: 'nav.usage',
        icon: 'gauge',
        also: 'storage bandwidth traffic bytes',
      },
    ],
  },
  {
    title: 'nav.developers',
    entries: [
      {
        href: '/dashboard/keys',
        label: 'nav.keys',
        icon: 'key',
        scope: 'admin',
        also: 'credentials secret access scopes signing keys signed playback',
      },
      {
        href: '/dashboard/upload-tokens',
        label: 'nav.uploadTokens',
        icon: 'token',
        scope: 'upload',
        also: 'delegated uploads',
      },
      {
        href: '/dashboard/webhooks',
        label: 'nav.webhooks',
        icon: 'hook',
        scope: 'admin',
        also: 'events notifications callbacks hooks endpoints',
      },
    ],
  },
  {
    title: 'nav.organisation',
    entries: [
      {
        href: '/dashboard/team',
        label: 'nav.team',
        icon: 'team',
        also: 'members people users roles invitations invite organization',
      },
      {
        href: '/dashboard/activity',
        label: 'nav.activity',
        icon: 'clock',
        scope: 'admin',
        also: 'audit log history changes sign-ins',
      },
      { href: '/dashboard/projects', label: 'nav.projects', icon: 'folder', also: 'workspaces brands apps' },
      {
        href: '/dashboard/server',
        label: 'nav.server',
        icon: 'server',
        scope: 'admin',
        isForOperator: true,
        also: 'nodes state status health load disk CPU memory checks doctor version',
      },
      {
        href: '/dashboard/settings',
        label: 'nav.settings',
        icon: 'settings',
        also: 'change preferences configuration',
      },
    ],
  },
];

/** The groups of pages that your role in the account may open. */
export function allowedGroups(): readonly ShownGroup[] {
  return groups
    .map(({ title, entries }) => ({
      title: title && t(title),
      entries: entries.filter(isAllowed).map(entry => ({ ...entry, label: t(entry.label) })),
    }))
    .filter(({ entries }) => entries.length > 0);
}

export function isAllowed({ scope, isForOperator }: Pick<NavEntry, 'scope' | 'isForOperator'>): boolean {
  if (isForOperator && session.value?.account.isOperator !== true) return false;
  return scope === undefined || can(scope);
}
