import type { ApiKeyPair } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { type KeyKind, keyHint, kindNames, nameOf } from './key-pair.ts';

interface KeyChange {
  readonly pair: ApiKeyPair;
  readonly kind: KeyKind;
  readonly headers: Record<string, string>;
  readonly onClose: () => void;
}

export function RegenerateDialog({
  pair,
  kind,
  headers,
  onMade,
  onClose,
}: KeyChange & { onMade: (pair: ApiKeyPair) => void }) {
  const name = kindNames[kind].toLowerCase();
  const isNew = pair[kind] === undefined;
  const submission = useSubmit(async () => {
    const params = { keyPairId: pair.keyPairId, environment: kind };
    onMade(await call('POST /account/api-keys/{keyPairId}/{environment}', { params, headers }));
  });
  return (
    <FormDialog
      title={isNew ? `Create a ${name} key?` : `Regenerate the ${name} key?`}
      action={isNew ? 'Create key' : 'Regenerate key'}
      danger={!isNew}
      submission={submission}
      onClose={onClose}
    >
      {isNew ? (
        <p>The new key is shown only once.</p>
      ) : (
        <div class="prose">
          <p>
            The key <code>{keyHint(pair[kind])}</code> of “{nameOf(pair)}” and all access tokens created with
            it stop working immediately. Enter the new key in every app that uses the old one.
          </p>
          <p>The new key is shown only once.</p>
        </div>
      )}
    </FormDialog>
  );
}

export function DeleteKeyDialog({
  pair,
  kind,
  headers,
  onDone,
  onClose,
}: KeyChange & { onDone: (message: string) => void }) {
  const name = kindNames[kind].toLowerCase();
  return (
    <ConfirmDialog
      title={`Delete the ${name} key?`}
      action="Delete key"
      name={nameOf(pair)}
      work={async () => {
        await call('DELETE /account/api-keys/{keyPairId}/{environment}', {
          params: { keyPairId: pair.keyPairId, environment: kind },
          headers,
        });
        onDone('Key deleted.');
      }}
      onClose={onClose}
    >
      <p>
        The {name} key <code>{keyHint(pair[kind])}</code> of “{nameOf(pair)}” and all access tokens created
        with it stop working immediately. Apps that use it lose access.
      </p>
    </ConfirmDialog>
  );
}

export function DeletePairDialog({
  pair,
  headers,
  onDone,
  onClose,
}: Omit<KeyChange, 'kind'> & { onDone: (message: string) => void }) {
  return (
    <ConfirmDialog
      title="Delete the key pair?"
      action="Delete key pair"
      name={nameOf(pair)}
      work={async () => {
        await call('DELETE /account/api-keys/{keyPairId}', { params: pair, headers });
        onDone('Key pair deleted.');
      }}
      onClose={onClose}
    >
      <p>
        The keys of “{nameOf(pair)}” and all access tokens created with them stop working immediately. Apps
        that use them lose access.
      </p>
    </ConfirmDialog>
  );
}
