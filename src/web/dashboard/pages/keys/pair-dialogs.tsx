import { useState } from 'preact/hooks';
import type { ApiKeyPair } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/developers.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { keyScopes, ScopeFields } from './key-scopes.tsx';

export function CreatePairDialog({
  headers,
  onMade,
  onClose,
}: {
  headers: Record<string, string>;
  onMade: (pair: ApiKeyPair) => void;
  onClose: () => void;
}) {
  return (
    <PairDialog
      title={t('keys.new')}
      action={t('keys.create')}
      onSubmit={async ({ name, scopes }) => {
        const body = { ...(name === null ? {} : { name }), scopes };
        onMade(await call('POST /account/api-keys', { body, headers }));
      }}
      onClose={onClose}
    />
  );
}

export function EditPairDialog({
  pair,
  headers,
  onDone,
  onClose,
}: {
  pair: ApiKeyPair;
  headers: Record<string, string>;
  onDone: (message: string) => void;
  onClose: () => void;
}) {
  return (
    <PairDialog
      title={t('keys.editTitle')}
      action={t('keys.save')}
      pair={pair}
      onSubmit={async body => {
        await call('PATCH /account/api-keys/{keyPairId}', { params: pair, body, headers });
        onDone(t('keys.changed'));
      }}
      onClose={onClose}
    />
  );
}

function PairDialog({
  title,
  action,
  pair,
  onSubmit,
  onClose,
}: {
  title: string;
  action: string;
  pair?: ApiKeyPair;
  onSubmit: (attributes: { name: string | null; scopes: ApiKeyPair['scopes'] }) => Promise<void>;
  onClose: () => void;
}) {
  const [name, setName] = useState(pair?.name ?? '');
  const [scopes, setScopes] = useState(pair?.scopes ?? keyScopes);
  const submission = useSubmit(() => onSubmit({ name: name.trim() || null, scopes }));
  return (
    <FormDialog
      title={title}
      action={action}
      submission={submission}
      disabled={scopes.length === 0}
      onClose={onClose}
    >
      <TextField
        label={t('keys.name')}
        hint={t('keys.nameHint')}
        value={name}
        onValue={setName}
        field="name"
        placeholder={t('keys.namePlaceholder')}
      />
      <ScopeFields scopes={scopes} onScopes={setScopes} />
    </FormDialog>
  );
}
