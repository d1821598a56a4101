/** Names that the API and other products have for pages, with those of the dashboard. */
const movedPages: Readonly<Record<string, string>> = {
  overview: '',
  'live-streams': '/live',
  streams: '/live',
  video: '/videos',
  trash: '/videos/trash',
  themes: '/players',
  'api-keys': '/keys',
  'signing-keys': '/keys',
  team: '/account',
  members: '/account',
  passkeys: '/account',
  activity: '/account/activity',
  'audit-log': '/account/activity',
  nodes: '/server',
  'server-settings': '/server/settings',
};

/** Returns where the page is that somebody looks for under another name, such as that of a resource of the API. */
export function movedPath(path: string): string | undefined {
  const [, name = '', rest = ''] = /^\/dashboard\/([\w-]+)(\/.*)?$/.exec(path) ?? [];
  return Object.hasOwn(movedPages, name) ? `/dashboard${movedPages[name]}${rest}` : undefined;
}
