import type { ApiKeyPair } from '../../api/api-types.ts';
import { CheckField } from '../../ui/form/field.tsx';
import { useFieldError } from '../../ui/form/form-context.tsx';

type KeyScope = ApiKeyPair['scopes'][number];

export const keyScopes: readonly KeyScope[] = ['read', 'upload', 'live', 'admin'];

const scopeTexts: Readonly<Record<KeyScope, { readonly label: string; readonly hint: string }>> = {
  read: {
    label: 'Read',
    hint: 'See videos, live streams, analytics and events, without stream keys and other secrets.',
  },
  upload: {
    label: 'Upload',
    hint: 'Upload, change and delete videos, captions, players and watermarks, and create upload tokens.',
  },
  live: {
    label: 'Live',
    hint: 'Create, change and delete live streams, and see their stream keys.',
  },
  admin: {
    label: 'Admin',
    hint: 'Manage API keys, webhooks and the account. Includes everything above.',
  },
};

export function scopeNames(scopes: readonly KeyScope[]): string {
  if (scopes.includes('admin')) return 'Everything';
  return scopes.map(scope => scopeTexts[scope].label).join(', ');
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
      <legend>These keys can</legend>
      {keyScopes.map(scope => (
        <CheckField
          key={scope}
          label={scopeTexts[scope].label}
          hint={scopeTexts[scope].hint}
          checked={isAdmin || scopes.includes(scope)}
          disabled={isAdmin && scope !== 'admin'}
          onValue={isOn => onScopes(keyScopes.filter(one => (one === scope ? isOn : scopes.includes(one))))}
        />
      ))}
      {error !== undefined && <p class="field-error">{error}</p>}
    </fieldset>
  );
}
