import type { ApiKeyPair } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { rich, t } from '../../texts/developers.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { type KeyKind, keyHint, nameOf } from './key-pair.ts';

const code = { code: (text: string) => <code>{text}</code> };

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
  const isNew = pair[kind] === undefined;
  const submission = useSubmit(async () => {
    const params = { keyPairId: pair.keyPairId, environment: kind };
    onMade(await call('POST /account/api-keys/{keyPairId}/{environment}', { params, headers }));
  });
  return (
    <FormDialog
      title={isNew ? t('keys.createTitle', { kind }) : t('keys.regenerateTitle', { kind })}
      action={isNew ? t('keys.createKey') : t('keys.regenerateAction')}
      danger={!isNew}
      submission={submission}
      onClose={onClose}
    >
      {isNew ? (
        <p>{t('keys.newShownOnce')}</p>
      ) : (
        <div class="prose">
          <p>{rich('keys.regenerateText', { hint: keyHint(pair[kind]) ?? '…', name: nameOf(pair) }, code)}</p>
          <p>{t('keys.newShownOnce')}</p>
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
  return (
    <ConfirmDialog
      title={t('keys.deleteKeyTitle', { kind })}
      action={t('keys.deleteKey')}
      name={nameOf(pair)}
      work={async () => {
        await call('DELETE /account/api-keys/{keyPairId}/{environment}', {
          params: { keyPairId: pair.keyPairId, environment: kind },
          headers,
        });
        onDone(t('keys.keyDeleted'));
      }}
      onClose={onClose}
    >
      <p>
        {rich('keys.deleteKeyText', { kind, hint: keyHint(pair[kind]) ?? '…', name: nameOf(pair) }, code)}
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
      title={t('keys.deletePairTitle')}
      action={t('keys.deletePair')}
      name={nameOf(pair)}
      work={async () => {
        await call('DELETE /account/api-keys/{keyPairId}', { params: pair, headers });
        onDone(t('keys.pairDeleted'));
      }}
      onClose={onClose}
    >
      <p>{t('keys.deletePairText', { name: nameOf(pair) })}</p>
    </ConfirmDialog>
  );
}
