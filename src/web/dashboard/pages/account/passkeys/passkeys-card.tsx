import { useState } from 'preact/hooks';
import type { Passkey } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { passkeyObstacle } from '../../../api/passkeys.ts';
import { formatDateTime } from '../../../format/time.ts';
import { rich, t } from '../../../texts/account.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/page.tsx';
import { relativeTime } from '../../../ui/relative-time.tsx';
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
    <Section isSplit title={t('passkeys.title')} id="passkeys" lead={t('passkeys.lead')}>
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
          <Button onClick={() => setOpened({ kind: 'add' })}>{t('passkeys.add')}</Button>
        </div>
      ) : (
        <Notice>{obstacle}</Notice>
      )}
      {opened?.kind === 'add' && (
        <AddPasskeyDialog onAdded={() => finish(t('passkeys.added'))} onClose={close} />
      )}
      {opened?.kind === 'rename' && (
        <RenamePasskeyDialog
          passkey={opened.passkey}
          onRenamed={() => finish(t('passkeys.renamed'))}
          onClose={close}
        />
      )}
      {opened?.kind === 'delete' && (
        <ConfirmDialog
          title={t('passkeys.deleteTitle')}
          action={t('passkeys.delete')}
          work={async () => {
            await call('DELETE /account/passkeys/{passkeyId}', { params: opened.passkey });
            finish(t('passkeys.deleted'));
          }}
          onClose={close}
        >
          <p>{t('passkeys.deleteText', { name: opened.passkey.name })}</p>
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
          {lastUsedAt === undefined
            ? t('passkeys.addedOn', { date: formatDateTime(createdAt) })
            : rich('passkeys.addedAndUsed', { date: formatDateTime(createdAt) }, relativeTime(lastUsedAt))}
        </p>
      </div>
      <IconButton
        icon="edit"
        label={t('passkeys.renameLabel', { name })}
        onClick={() => onOpen({ kind: 'rename', passkey })}
      />
      <IconButton
        icon="trash"
        label={t('passkeys.deleteLabel', { name })}
        onClick={() => onOpen({ kind: 'delete', passkey })}
      />
    </li>
  );
}
