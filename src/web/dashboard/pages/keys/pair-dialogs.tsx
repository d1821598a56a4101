import { useState } from 'preact/hooks';
import type { ApiKeyPair } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { type Submission, useSubmit } from '../../ui/form/use-submit.ts';
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
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState(keyScopes);
  const submission = useSubmit(async () => {
    const named = name.trim() === '' ? {} : { name: name.trim() };
    onMade(await call('POST /account/api-keys', { body: { ...named, scopes }, headers }));
  });
  return (
    <FormDialog
      title="New key pair"
      action="Create key pair"
      submission={submission}
      disabled={scopes.length === 0}
      onClose={onClose}
    >
      <NameField name={name} onName={setName} submission={submission} />
      <ScopeFields scopes={scopes} onScopes={setScopes} error={submission.errorOf('scopes')} />
    </FormDialog>
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
  onDone: (words: string) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(pair.name ?? '');
  const [scopes, setScopes] = useState(pair.scopes);
  const submission = useSubmit(async () => {
    const body = { name: name.trim() === '' ? null : name.trim(), scopes };
    await call('PATCH /account/api-keys/{keyPairId}', { params: pair, body, headers });
    onDone('Key pair changed.');
  });
  return (
    <FormDialog
      title="Edit key pair"
      action="Save"
      submission={submission}
      disabled={scopes.length === 0}
      onClose={onClose}
    >
      <NameField name={name} onName={setName} submission={submission} />
      <ScopeFields scopes={scopes} onScopes={setScopes} error={submission.errorOf('scopes')} />
    </FormDialog>
  );
}

function NameField({
  name,
  onName,
  submission,
}: {
  name: string;
  onName: (name: string) => void;
  submission: Submission;
}) {
  return (
    <TextField
      label="Name"
      hint="For example, the app that uses it."
      value={name}
      onValue={onName}
      error={submission.errorOf('name')}
      placeholder="Upload page"
    />
  );
}
