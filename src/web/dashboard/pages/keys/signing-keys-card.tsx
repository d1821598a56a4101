import { useState } from 'preact/hooks';
import type { SigningKey } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDate, formatDateTime } from '../../format/time.ts';
import { projectKey } from '../../state/session.ts';
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
        title="Signing keys"
        lead="Your server signs tokens with these keys, and viewers with a token watch private videos and live streams."
        actions={
          <Button small icon="plus" onClick={() => setOpen({ kind: 'create' })}>
            New signing key
          </Button>
        }
      >
        <LoadedContent loaded={loaded} height={140}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon="key" title="No signing keys yet">
                You need one only for videos and live streams that are private.
              </EmptyState>
            ) : (
              <Table
                caption="Signing keys"
                columns={[
                  { head: 'Name', cell: ({ name }) => name },
                  { head: 'Key ID', cell: ({ signingKeyId }) => <code>{signingKeyId}</code> },
                  { head: 'Algorithm', cell: ({ algorithm }) => algorithm },
                  {
                    head: 'Created',
                    cell: ({ createdAt }) => (
                      <time dateTime={createdAt} title={formatDateTime(createdAt)}>
                        {formatDate(createdAt)}
                      </time>
                    ),
                  },
                  {
                    head: 'Actions',
                    isActions: true,
                    cell: key => (
                      <Button
                        small
                        icon="trash"
                        label={`Revoke the signing key ${key.name}`}
                        onClick={() => setOpen({ kind: 'revoke', key })}
                      >
                        Revoke
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
              showToast('Signing key added.');
            } else setOpen({ kind: 'new', key });
          }}
          onClose={close}
        />
      )}
      {open?.kind === 'new' && <NewSigningKeyDialog signingKey={open.key} onClose={close} />}
      {open?.kind === 'revoke' && (
        <ConfirmDialog
          title="Revoke the signing key?"
          action="Revoke key"
          name={open.key.name}
          work={async () => {
            await call('DELETE /account/signing-keys/{signingKeyId}', {
              params: { signingKeyId: open.key.signingKeyId },
            });
            loaded.reload();
            showToast('Signing key revoked.');
          }}
          onClose={close}
        >
          <p>
            Tokens that were signed with “{open.key.name}” stop working within a second. Viewers who watch
            with one are cut off.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
