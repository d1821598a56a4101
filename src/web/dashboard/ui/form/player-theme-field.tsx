import type { ComponentChildren } from 'preact';
import { call } from '../../api/client.ts';
import { themeName } from '../../format/theme-name.ts';
import { t } from '../../texts/shell.ts';
import { useLoad } from '../hooks/use-load.ts';
import { SelectField } from './field.tsx';
import { type FieldValue, useFieldValue } from './form-context.tsx';

export function PlayerThemeField({
  hint,
  unchanged,
  ...own
}: Omit<FieldValue<string>, 'field'> & {
  hint?: ComponentChildren;
  /** A first choice beside the themes. */
  unchanged?: readonly [value: string, label: string] | undefined;
}) {
  const [value, onValue] = useFieldValue({ field: 'playerId', ...own }, '');
  const themes = useLoad('themes', signal =>
    call('GET /players', { query: { pageSize: 100, sortBy: 'name', sortOrder: 'asc' }, signal }),
  );
  const named = (themes.value?.data ?? []).map(theme => [theme.playerId, themeName(theme)] as const);
  const isListed = value === '' || value === unchanged?.[0] || named.some(([playerId]) => playerId === value);
  return (
    <SelectField
      label={t('theme.label')}
      value={value}
      onValue={onValue}
      field="playerId"
      hint={themes.problem === undefined ? hint : t('theme.notLoaded')}
      options={[
        ...(unchanged === undefined ? [] : [unchanged]),
        ['', t('theme.default')],
        ...named,
        ...(isListed ? [] : [[value, t('theme.current')] as const]),
      ]}
    />
  );
}
