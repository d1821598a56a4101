import { useState } from 'preact/hooks';
import type { Passkey } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { passkeyObstacle } from '../../../api/passkeys.ts';
import { formatDateTime } from '../../../format/time.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/page.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { LoadedContent } from '../../../ui/states.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { AddPasskeyDialog, RenamePasskeyDialog } from './passkey-dialogs.tsx';

/** Page size that fits all passkeys of a user. */
const pageSize = 25;

type Opened = { readonly kind: 'add' } | { readonly kind: 'rename' | 'delete'; readonly passkey: Passkey };

export function PasskeysCard() {
  const loaded = useLoad('passkeys', signal =>
    call('GET /account/passkeys', { query: { pageSize }, signal }),
  );
  const [opened, setOpened] = useState<Opened>();
  const obstacle = passkeyObstacle();
  const close = () => setOpened(undefined);
  const finish = (text: string) => {
    close();
    loaded.reload();
    showToast(text);
  };
  return (
    <Section
      isSplit
      title="Passkeys"
      id="passkeys"
      lead="Sign in with your fingerprint, your face or the PIN of your device. No password or code is needed."
    >
      <LoadedContent loaded={loaded} height={60}>
        {({ data }) =>
          data.length > 0 && (
            <ul class="passkeys">
              {data.map(passkey => (
                <PasskeyItem key={passkey.passkeyId} passkey={passkey} onOpen={setOpened} />
              ))}
            </ul>
          )
        }
      </LoadedContent>
      {obstacle === undefined ? (
        <div class="actions">
          <Button onClick={() => setOpened({ kind: 'add' })}>Add passkey</Button>
        </div>
      ) : (
        <Notice>{obstacle}</Notice>
      )}
      {opened?.kind === 'add' && (
        <AddPasskeyDialog onAdded={() => finish('Passkey added.')} onClose={close} />
      )}
      {opened?.kind === 'rename' && (
        <RenamePasskeyDialog
          passkey={opened.passkey}
          onRenamed={() => finish('Passkey renamed.')}
          onClose={close}
        />
      )}
      {opened?.kind === 'delete' && (
        <ConfirmDialog
          title="Delete this passkey?"
          action="Delete passkey"
          work={async () => {
            await call('DELETE /account/passkeys/{passkeyId}', { params: opened.passkey });
            finish('Passkey deleted.');
          }}
          onClose={close}
        >
          <p>“{opened.passkey.name}” no longer signs you in. Remove it from your device, too.</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function PasskeyItem({ passkey, onOpen }: { passkey: Passkey; onOpen: (opened: Opened) => void }) {
  const { name, createdAt, lastUsedAt } = passkey;
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <p class="hint">
          Added {formatDateTime(createdAt)}
          {lastUsedAt !== undefined && (
            <>
              , used <RelativeTime time={lastUsedAt} />
            </>
          )}
        </p>
      </div>
      <IconButton icon="edit" label={`Rename ${name}`} onClick={() => onOpen({ kind: 'rename', passkey })} />
      <IconButton icon="trash" label={`Delete ${name}`} onClick={() => onOpen({ kind: 'delete', passkey })} />
    </li>
  );
}
