import { useState } from 'preact/hooks';
import { serverUrl } from '../../../shared/base-path.ts';
import type { UploadToken } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { shortId } from '../../format/short-id.ts';
import { formatDateTime } from '../../format/time.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { CopyField, copyText } from '../../ui/copy.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { ResultDialog } from '../../ui/dialog/dialog.tsx';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { TokenForm } from './token-form.tsx';
import { curlSample, pageSample } from './token-samples.ts';

const pageSize = 25;
const refreshMs = 30_000;

type Open =
  | { readonly what: 'token'; readonly token: UploadToken; readonly isNew: boolean }
  | { readonly what: 'deletion'; readonly token: UploadToken };

export function UploadTokensPage() {
  const { query, change } = useQuery();
  const [isCreating, setCreating] = useNewDialog();
  const [open, setOpen] = useState<Open>();
  const page = Math.max(1, Number(query.page) || 1);
  const loaded = useLoad(String(page), signal =>
    call('GET /upload-tokens', {
      query: { sortBy: 'createdAt', sortOrder: 'desc', currentPage: page, pageSize },
      signal,
    }),
  );
  useInterval(refreshMs, loaded.reload);
  const close = () => setOpen(undefined);
  return (
    <Page
      title="Upload tokens"
      lead="Let visitors of your pages and users of your apps upload videos without an API key."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New upload token
        </Button>
      }
    >
      <Section>
        <LoadedContent loaded={loaded} height={180}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <EmptyState icon="token" title="No upload tokens yet">
                Create a token and use it in your upload page. Expired tokens disappear from this list.
              </EmptyState>
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
        </LoadedContent>
      </Section>
      {isCreating && (
        <TokenForm
          onClose={() => setCreating(false)}
          onMade={token => {
            setCreating(false);
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
      action="Delete token"
      name={shortId(token)}
      onClose={onClose}
      work={async () => {
        await call('DELETE /upload-tokens/{uploadToken}', { params: { uploadToken: token } });
        showToast('Upload token deleted.');
        onDeleted();
      }}
    >
      <p>
        Uploads with this token stop working immediately, including those in progress. Videos that were
        uploaded with it stay.
      </p>
    </ConfirmDialog>
  );
}

function columnsOf(setOpen: (open: Open) => void): Column<UploadToken>[] {
  return [
    { head: 'Token', cell: ({ token }) => <TokenCell token={token} /> },
    {
      head: 'Expires',
      cell: ({ expiresAt }) =>
        expiresAt === undefined ? <Badge>Never</Badge> : <RelativeTime time={expiresAt} />,
    },
    { head: 'Created', cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
    {
      head: 'Actions',
      isActions: true,
      cell: token => (
        <span class="actions-of-row">
          <Button
            small
            label={`How to use token ${shortId(token.token)}`}
            onClick={() => setOpen({ what: 'token', token, isNew: false })}
          >
            How to use
          </Button>
          <IconButton
            danger
            icon="trash"
            label={`Delete token ${shortId(token.token)}`}
            onClick={() => setOpen({ what: 'deletion', token })}
          />
        </span>
      ),
    },
  ];
}

function TokenCell({ token }: { token: string }) {
  const [isShown, setShown] = useState(false);
  const ending = shortId(token);
  return (
    <span class="token-cell">
      <code>
        {isShown ? (
          token
        ) : (
          <>
            <span class="for-readers">Ends in </span>
            <span aria-hidden="true">••••••</span>
            {ending}
          </>
        )}
      </code>
      <IconButton
        icon={isShown ? 'eye-off' : 'eye'}
        label={`${isShown ? 'Hide' : 'Show'} token ${ending}`}
        onClick={() => setShown(!isShown)}
      />
      <IconButton icon="copy" label={`Copy token ${ending}`} onClick={() => void copyText(token, 'Token')} />
    </span>
  );
}

function TokenDialog({
  token: { token, expiresAt },
  isNew,
  onClose,
}: {
  token: UploadToken;
  isNew: boolean;
  onClose: () => void;
}) {
  return (
    <ResultDialog title={isNew ? 'Upload token created' : 'Upload with this token'} wide onClose={onClose}>
      <CopyField
        label="Token"
        value={token}
        secret={!isNew}
        hint={
          expiresAt === undefined ? 'Valid until you delete it.' : `Valid until ${formatDateTime(expiresAt)}.`
        }
      />
      <Notice>
        Anyone with this token can upload videos to this environment, and nothing else. You can use it in a
        web page or an app.
      </Notice>
      <CodeSample label="From a terminal" text={curlSample(serverUrl, token)} />
      <CodeSample label="From a web page" text={pageSample(serverUrl, token)} />
    </ResultDialog>
  );
}
