import { useState } from 'preact/hooks';
import { saveFile } from '../../../shared/save-file.ts';
import type { SigningKey } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
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
    <FormDialog title="New signing key" action="Create key" submission={submission} onClose={onClose}>
      <TextField
        label="Name"
        hint="For example, the app that signs with it."
        value={name}
        onValue={setName}
        field="name"
        placeholder="Website"
        maxLength={100}
        required
      />
      <SelectField
        label="Key"
        value={kind}
        onValue={setKind}
        field="algorithm"
        options={[
          ['ES256', 'New key, ES256 (recommended)'],
          ['EdDSA', 'New key, EdDSA'],
          ['RS256', 'New key, RS256'],
          ['own', 'My own public key'],
        ]}
      />
      {kind === 'own' && (
        <TextArea
          label="Public key"
          rows={6}
          hint="PEM: EC with the curve P-256, Ed25519, or RSA with 2048 to 4096 bits."
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
    <ResultDialog title={`Your new signing key: ${name}`} wide onClose={onClose}>
      <Notice tone="warning" title="Copy the private key now.">
        It is shown only once. The server doesn’t store it.
      </Notice>
      <CopyField
        label="Key ID"
        value={signingKeyId}
        hint={`The “kid” of tokens. Their “alg” is ${algorithm}.`}
      />
      <CodeSample label="Private key" text={privateKey} />
      <div class="actions">
        <Button
          icon="download"
          onClick={() => saveFile(`data:application/x-pem-file,${encodeURIComponent(privateKey)}`, file)}
        >
          Download the private key
        </Button>
      </div>
    </ResultDialog>
  );
}
