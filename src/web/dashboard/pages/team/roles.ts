import type { Member } from '../../api/api-types.ts';
import { t } from '../../texts/account.ts';

export type Role = Member['role'];

export function roleOptions(): readonly (readonly [Role, string])[] {
  return [
    ['owner', t('roles.option.owner')],
    ['editor', t('roles.option.editor')],
    ['viewer', t('roles.option.viewer')],
  ];
}

export function roleName(role: Role): string {
  return t(`roles.name.${role}`);
}
