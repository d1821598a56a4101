import type { Member } from '../../api/api-types.ts';

export type Role = Member['role'];

export const roleOptions: readonly (readonly [Role, string])[] = [
  ['owner', 'Owner: everything'],
  ['editor', 'Editor: videos and live streams'],
  ['viewer', 'Viewer: view only'],
];

export const roleNames: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  editor: 'Editor',
  viewer: 'Viewer',
};
