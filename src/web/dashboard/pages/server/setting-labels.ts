import type { ServerSetting } from '../../api/api-types.ts';

export const originLabels: Readonly<Record<ServerSetting['origin'], string>> = {
  default: 'Default',
  dashboard: 'Changed here',
  file: 'File',
  environment: 'Environment',
  flag: 'Flag',
};

export function valueLabel({ isSecret, isSet, value }: ServerSetting): string {
  if (!isSet) return 'Not set';
  return isSecret ? 'Set' : (value ?? '');
}
