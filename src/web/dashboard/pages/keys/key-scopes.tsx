import type { ApiKeyPair } from '../../api/api-types.ts';
import { locale } from '../../state/texts.ts';
import { t } from '../../texts/developers.ts';
import { CheckField } from '../../ui/form/field.tsx';
import { useFieldError } from '../../ui/form/form-context.tsx';

type KeyScope = ApiKeyPair['scopes'][number];

export const keyScopes: readonly KeyScope[] = ['read', 'upload', 'live', 'admin'];

export function scopeNames(scopes: readonly KeyScope[]): string {
  if (scopes.includes('admin')) return t('scopes.everything');
  const names = scopes.map(scope => t(`scopes.label.${scope}`));
  return new Intl.ListFormat(locale(), { type: 'unit', style: 'short' }).format(names);
}

export function ScopeFields({
  scopes,
  onScopes,
}: {
  scopes: readonly KeyScope[];
  onScopes: (scopes: readonly KeyScope[]) => void;
}) {
  const error = useFieldError('scopes');
  const isAdmin = scopes.includes('admin');
  return (
    <fieldset class="form-grid">
      <legend>{t('scopes.legend')}</legend>
      {keyScopes.map(scope => (
        <CheckField
          key={scope}
          label={t(`scopes.label.${scope}`)}
          hint={t(`scopes.hint.${scope}`)}
          checked={isAdmin || scopes.includes(scope)}
          disabled={isAdmin && scope !== 'admin'}
          onValue={isOn => onScopes(keyScopes.filter(one => (one === scope ? isOn : scopes.includes(one))))}
        />
      ))}
      {error !== undefined && <p class="field-error">{error}</p>}
    </fieldset>
  );
}
