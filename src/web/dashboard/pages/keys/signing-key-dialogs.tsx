import { useState } from 'preact/hooks';
import { saveFile } from '../../../shared/save-file.ts';
import type { SigningKey } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/developers.ts';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { FormDialog, ResultDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Notice } from '../../ui/notice.tsx';

type Kind = SigningKey['algorithm'] | 'own';

export function CreateSigningKeyDialog({
  onMade,
  onClose,
}: {
  onMade: (key: SigningKey) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>('ES256');
  const [publicKey, setPublicKey] = useState('');
  const submission = useSubmit(async () => {
    const key = kind === 'own' ? { publicKey } : { algorithm: kind };
    onMade(await call('POST /account/signing-keys', { body: { name: name.trim(), ...key } }));
  });
  return (
    <FormDialog
      title={t('signing.new')}
      action={t('keys.createKey')}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label={t('keys.name')}
        hint={t('signing.nameHint')}
        value={name}
        onValue={setName}
        field="name"
        placeholder={t('signing.namePlaceholder')}
        maxLength={100}
        required
      />
      <SelectField
        label={t('signing.key')}
        value={kind}
        onValue={setKind}
        field="algorithm"
        options={[
          ['ES256', t('signing.newRecommended', { algorithm: 'ES256' })],
          ['EdDSA', t('signing.newKey', { algorithm: 'EdDSA' })],
          ['RS256', t('signing.newKey', { algorithm: 'RS256' })],
          ['own', t('signing.own')],
        ]}
      />
      {kind === 'own' && (
        <TextArea
          label={t('signing.publicKey')}
          rows={6}
          hint={t('signing.publicKeyHint')}
          value={publicKey}
          onValue={setPublicKey}
          field="publicKey"
          placeholder="-----BEGIN PUBLIC KEY-----"
        />
      )}
    </FormDialog>
  );
}

export function NewSigningKeyDialog({
  signingKey: { name, signingKeyId, algorithm, privateKey = '' },
  onClose,
}: {
  signingKey: SigningKey;
  onClose: () => void;
}) {
  const file = `${signingKeyId}.pem`;
  return (
    <ResultDialog title={t('signing.madeTitle', { name })} wide onClose={onClose}>
      <Notice tone="warning" title={t('signing.copyNow')}>
        {t('signing.shownOnce')}
      </Notice>
      <CopyField
        label={t('signing.keyId')}
        value={signingKeyId}
        hint={t('signing.keyIdHint', { algorithm })}
      />
      <CodeSample label={t('signing.privateKey')} text={privateKey} />
      <div class="actions">
        <Button
          icon="download"
          onClick={() => saveFile(`data:application/x-pem-file,${encodeURIComponent(privateKey)}`, file)}
        >
          {t('signing.download')}
        </Button>
      </div>
    </ResultDialog>
  );
}
