import { expect, test } from 'vitest';
import { movedPart, movedPath } from '../../../../../src/web/dashboard/shell/moved-paths.ts';

test.each([
  ['/dashboard/overview', '/dashboard'],
  ['/dashboard/live-streams', '/dashboard/live'],
  ['/dashboard/live-streams/li0123/studio', '/dashboard/live/li0123/studio'],
  ['/dashboard/video/vi0123', '/dashboard/videos/vi0123'],
  ['/dashboard/api-keys', '/dashboard/keys'],
  ['/dashboard/members', '/dashboard/team'],
  ['/dashboard/server-settings', '/dashboard/server/settings'],
])('%s leads to %s', (path, target) => {
  expect(movedPath(path)).toBe(target);
});

test('names that nothing has lead nowhere', () => {
  for (const path of ['/dashboard/nobody', '/dashboard/constructor', '/team', '/dashboard'])
    expect(movedPath(path)).toBeUndefined();
});

test('parts of pages that moved are found where they are now', () => {
  expect(movedPart('/dashboard/account/activity')).toBe('/dashboard/activity');
  expect(movedPart('/dashboard/account#upgrade')).toBe('/dashboard/settings?part=organisation#upgrade');
  expect(movedPart('/dashboard/account')).toBeUndefined();
});
