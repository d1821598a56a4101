import { useState } from 'preact/hooks';
import type { SigningKey } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDate, formatDateTime } from '../../format/time.ts';
import { projectKey } from '../../state/session.ts';
import { t } from '../../texts/developers.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Section } from '../../ui/page.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { CreateSigningKeyDialog, NewSigningKeyDialog } from './signing-key-dialogs.tsx';

type OpenDialog = { readonly kind: 'create' } | { readonly kind: 'new' | 'revoke'; readonly key: SigningKey };

/** The limit of keys in an environment. */
const maxShown = 100;

export function SigningKeysCard() {
  const [open, setOpen] = useState<OpenDialog>();
  const loaded = useLoad(projectKey.value, signal =>
    call('GET /account/signing-keys', {
      query: { pageSize: maxShown, sortBy: 'createdAt', sortOrder: 'desc' },
      signal,
    }),
  );
  const close = () => setOpen(undefined);
  return (
    <>
      <Section
        title={t('signing.title')}
        lead={t('signing.lead')}
        actions={
          <Button small icon="plus" onClick={() => setOpen({ kind: 'create' })}>
            {t('signing.new')}
          </Button>
        }
      >
        <LoadedContent loaded={loaded} height={140}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon="key" title={t('signing.emptyTitle')}>
                {t('signing.emptyText')}
              </EmptyState>
            ) : (
              <Table
                caption={t('signing.title')}
                columns={[
                  { head: t('keys.name'), cell: ({ name }) => name },
                  { head: t('signing.keyId'), cell: ({ signingKeyId }) => <code>{signingKeyId}</code> },
                  { head: t('signing.algorithm'), cell: ({ algorithm }) => algorithm },
                  {
                    head: t('keys.createdAt'),
                    cell: ({ createdAt }) => (
                      <time dateTime={createdAt} title={formatDateTime(createdAt)}>
                        {formatDate(createdAt)}
                      </time>
                    ),
                  },
                  {
                    head: t('keys.actions'),
                    isActions: true,
                    cell: key => (
                      <Button
                        small
                        icon="trash"
                        label={t('signing.revokeLabel', { name: key.name })}
                        onClick={() => setOpen({ kind: 'revoke', key })}
                      >
                        {t('signing.revoke')}
                      </Button>
                    ),
                  },
                ]}
                rows={data}
                keyOf={({ signingKeyId }) => signingKeyId}
              />
            )
          }
        </LoadedContent>
      </Section>
      {open?.kind === 'create' && (
        <CreateSigningKeyDialog
          onMade={key => {
            loaded.reload();
            if (key.privateKey === undefined) {
              close();
              showToast(t('signing.added'));
            } else setOpen({ kind: 'new', key });
          }}
          onClose={close}
        />
      )}
      {open?.kind === 'new' && <NewSigningKeyDialog signingKey={open.key} onClose={close} />}
      {open?.kind === 'revoke' && (
        <ConfirmDialog
          title={t('signing.revokeTitle')}
          action={t('signing.revokeAction')}
          name={open.key.name}
          work={async () => {
            await call('DELETE /account/signing-keys/{signingKeyId}', {
              params: { signingKeyId: open.key.signingKeyId },
            });
            loaded.reload();
            showToast(t('signing.revoked'));
          }}
          onClose={close}
        >
          <p>{t('signing.revokeText', { name: open.key.name })}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
