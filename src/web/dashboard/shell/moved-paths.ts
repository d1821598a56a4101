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
  members: '/team',
  passkeys: '/account',
  'audit-log': '/activity',
  nodes: '/server',
  'server-settings': '/server/settings',
};

/** Pages and parts of pages that were elsewhere. */
const movedParts: Readonly<Record<string, string>> = {
  '/dashboard/account#upgrade': '/dashboard/settings?part=organisation#upgrade',
  '/dashboard/account/activity': '/dashboard/activity',
  '/dashboard/account/team': '/dashboard/team',
};

/** @param part the path of a page, with the part of it that a link leads to */
export function movedPart(part: string): string | undefined {
  return Object.hasOwn(movedParts, part) ? movedParts[part] : undefined;
}

/** Returns where the page is that somebody looks for under another name, such as that of a resource of the API. */
export function movedPath(path: string): string | undefined {
  const [, name = '', rest = ''] = /^\/dashboard\/([\w-]+)(\/.*)?$/.exec(path) ?? [];
  return Object.hasOwn(movedPages, name) ? `/dashboard${movedPages[name]}${rest}` : undefined;
}
