import { useState } from 'preact/hooks';
import { serverUrl } from '../../../shared/base-path.ts';
import type { UploadToken } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { shortId } from '../../format/short-id.ts';
import { formatDateTime } from '../../format/time.ts';
import { t } from '../../texts/developers.ts';
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
import { pageOf } from '../../ui/page-of.ts';
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
  const { query } = useQuery();
  const [isCreating, setCreating] = useNewDialog();
  const [open, setOpen] = useState<Open>();
  const page = pageOf(query);
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
      title={t('tokens.title')}
      lead={t('tokens.lead')}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          {t('tokens.new')}
        </Button>
      }
    >
      <Section>
        <LoadedContent loaded={loaded} height={180}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <EmptyState icon="token" title={t('tokens.emptyTitle')}>
                {t('tokens.emptyText')}
              </EmptyState>
            ) : (
              <>
                <Table
                  caption={t('tokens.title')}
                  rows={data}
                  keyOf={({ token }) => token}
                  columns={columnsOf(setOpen)}
                />
                <Pagination pagination={pagination} what="uploadTokens" />
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
      title={t('tokens.deleteTitle')}
      action={t('tokens.delete')}
      name={shortId(token)}
      onClose={onClose}
      work={async () => {
        await call('DELETE /upload-tokens/{uploadToken}', { params: { uploadToken: token } });
        showToast(t('tokens.deleted'));
        onDeleted();
      }}
    >
      <p>{t('tokens.deleteText')}</p>
    </ConfirmDialog>
  );
}

function columnsOf(setOpen: (open: Open) => void): Column<UploadToken>[] {
  return [
    { head: t('tokens.token'), cell: ({ token }) => <TokenCell token={token} /> },
    {
      head: t('tokens.expires'),
      cell: ({ expiresAt }) =>
        expiresAt === undefined ? <Badge>{t('tokens.never')}</Badge> : <RelativeTime time={expiresAt} />,
    },
    { head: t('tokens.createdAt'), cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
    {
      head: t('tokens.actions'),
      isActions: true,
      cell: token => (
        <span class="actions-of-row">
          <Button
            small
            label={t('tokens.howToLabel', { ending: shortId(token.token) })}
            onClick={() => setOpen({ what: 'token', token, isNew: false })}
          >
            {t('tokens.howTo')}
          </Button>
          <IconButton
            danger
            icon="trash"
            label={t('tokens.deleteLabel', { ending: shortId(token.token) })}
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
            <span class="for-readers">{t('tokens.endsIn')} </span>
            <span aria-hidden="true">••••••</span>
            {ending}
          </>
        )}
      </code>
      <IconButton
        icon={isShown ? 'eye-off' : 'eye'}
        label={isShown ? t('tokens.hideLabel', { ending }) : t('tokens.showLabel', { ending })}
        onClick={() => setShown(!isShown)}
      />
      <IconButton
        icon="copy"
        label={t('tokens.copyLabel', { ending })}
        onClick={() => void copyText(token, t('tokens.token'))}
      />
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
    <ResultDialog title={isNew ? t('tokens.madeTitle') : t('tokens.useTitle')} wide onClose={onClose}>
      <CopyField
        label={t('tokens.token')}
        value={token}
        secret={!isNew}
        hint={
          expiresAt === undefined
            ? t('tokens.validAlways')
            : t('tokens.validUntil', { date: formatDateTime(expiresAt) })
        }
      />
      <Notice>{t('tokens.notice')}</Notice>
      <CodeSample label={t('tokens.fromTerminal')} text={curlSample(serverUrl, token)} />
      <CodeSample label={t('tokens.fromPage')} text={pageSample(serverUrl, token)} />
    </ResultDialog>
  );
}
