import { useState } from 'preact/hooks';
import type { UploadToken } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { endingOf } from '../../format/ending.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { tell } from '../../ui/toast.tsx';
import { useEvery } from '../../ui/use-every.ts';
import { useLoad } from '../../ui/use-load.ts';
import { useQuery } from '../../ui/use-query.ts';
import { TokenCell } from './token-cell.tsx';
import { TokenDialog } from './token-dialog.tsx';
import { TokenForm } from './token-form.tsx';

const pageSize = 25;
/** What expires meanwhile leaves the list. */
const refreshMs = 30_000;

type Open =
  | { readonly what: 'form' }
  | { readonly what: 'token'; readonly token: UploadToken; readonly isNew: boolean }
  | { readonly what: 'deletion'; readonly token: UploadToken };

/** Tokens with which others upload. */
export function UploadTokensPage() {
  const { query, change } = useQuery();
  const [open, setOpen] = useState<Open>();
  const page = Math.max(1, Number(query.page) || 1);
  const loaded = useLoad(String(page), signal =>
    call('GET /upload-tokens', {
      query: { sortBy: 'createdAt', sortOrder: 'desc', currentPage: page, pageSize },
      signal,
    }),
  );
  useEvery(refreshMs, loaded.reload);
  const close = () => setOpen(undefined);
  return (
    <Page
      title="Upload tokens"
      lead="With a token, visitors of your pages and users of your apps upload videos, without a key of yours."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setOpen({ what: 'form' })}>
          New upload token
        </Button>
      }
    >
      <Card flush>
        <Shown loaded={loaded} height={180}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <Empty icon="token" title="No upload tokens">
                Make one, and put it where people are to upload. Those that expire leave this list by
                themselves.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Upload tokens"
                  rows={data}
                  keyOf={({ token }) => token}
                  columns={columnsOf(setOpen)}
                />
                <Pagination
                  pagination={pagination}
                  what="upload tokens"
                  onPage={next => change({ page: next === 1 ? undefined : String(next) })}
                />
              </>
            )
          }
        </Shown>
      </Card>
      {open?.what === 'form' && (
        <TokenForm
          onClose={close}
          onMade={token => {
            setOpen({ what: 'token', token, isNew: true });
            loaded.reload();
          }}
        />
      )}
      {open?.what === 'token' && <TokenDialog token={open.token} isNew={open.isNew} onClose={close} />}
      {open?.what === 'deletion' && (
        <DeleteToken token={open.token.token} onClose={close} onDeleted={loaded.reload} />
      )}
    </Page>
  );
}

function DeleteToken({
  token,
  onDeleted,
  onClose,
}: {
  token: string;
  onDeleted: () => void;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title="Delete this upload token?"
      action="Delete the token"
      name={endingOf(token)}
      onClose={onClose}
      work={async () => {
        await call('DELETE /upload-tokens/{uploadToken}', { params: { uploadToken: token } });
        tell('Upload token deleted.');
        onDeleted();
      }}
    >
      <p>
        Nobody can upload with it any more, and uploads that are under way stop. Videos that came in with it
        stay. To confirm, type the end of the token.
      </p>
    </ConfirmDialog>
  );
}

function columnsOf(setOpen: (open: Open) => void): Column<UploadToken>[] {
  return [
    { head: 'Token', cell: ({ token }) => <TokenCell token={token} /> },
    {
      head: 'Expires',
      cell: ({ expiresAt }) => (expiresAt === undefined ? <Badge>Never</Badge> : <Moment time={expiresAt} />),
    },
    { head: 'Created', cell: ({ createdAt }) => <Moment time={createdAt} /> },
    {
      head: 'Actions',
      isActions: true,
      cell: token => (
        <span class="actions-of-row">
          <Button
            small
            label={`How to use token ${endingOf(token.token)}`}
            onClick={() => setOpen({ what: 'token', token, isNew: false })}
          >
            How to use
          </Button>
          <IconButton
            danger
            icon="trash"
            label={`Delete token ${endingOf(token.token)}`}
            onClick={() => setOpen({ what: 'deletion', token })}
          />
        </span>
      ),
    },
  ];
}
