import { useState } from 'preact/hooks';
import type { ListedSession } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { signOut } from '../../api/sessions.ts';
import { formatDateTime } from '../../format/time.ts';
import { t } from '../../texts/account.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Section } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showError, showToast } from '../../ui/toast.tsx';
import { describeUserAgent } from './user-agent.ts';

const pageSize = 25;

export function SessionsCard() {
  const [page, setPage] = useState(1);
  const [ending, setEnding] = useState<ListedSession | 'others'>();
  const loaded = useLoad(String(page), signal =>
    call('GET /account/sessions', {
      query: { currentPage: page, pageSize, sortBy: 'lastUsedAt', sortOrder: 'desc' },
      signal,
    }),
  );
  const close = () => setEnding(undefined);
  const hasOthers = (loaded.value?.pagination.itemsTotal ?? 0) > 1;
  return (
    <Section
      id="sessions"
      title={t('sessions.title')}
      actions={
        hasOthers && (
          <Button small onClick={() => setEnding('others')}>
            {t('sessions.endOthers')}
          </Button>
        )
      }
    >
      <LoadedContent loaded={loaded} height={130}>
        {({ data, pagination }) => (
          <>
            <Table
              caption={t('sessions.caption')}
              columns={columnsOf(setEnding)}
              rows={data}
              keyOf={({ sessionId }) => sessionId}
            />
            {pagination.pagesTotal > 1 && (
              <Pagination pagination={pagination} what="sessions" onPage={setPage} />
            )}
          </>
        )}
      </LoadedContent>
      {ending === 'others' && (
        <ConfirmDialog
          title={t('sessions.endOthersTitle')}
          action={t('sessions.endOthers')}
          work={async () => {
            await call('DELETE /account/sessions');
            showToast(t('sessions.othersEnded'));
            setPage(1);
            loaded.reload();
          }}
          onClose={close}
        >
          <p>{t('sessions.endOthersText')}</p>
        </ConfirmDialog>
      )}
      {ending !== undefined && ending !== 'others' && (
        <ConfirmDialog
          title={t('sessions.endTitle')}
          action={t('sessions.endAction')}
          work={async () => {
            await call('DELETE /account/sessions/{sessionId}', { params: ending });
            showToast(t('sessions.ended'));
            loaded.reload();
          }}
          onClose={close}
        >
          <p>
            {t('sessions.endText', { client: describeUserAgent(ending.userAgent), address: ending.address })}
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function columnsOf(end: (session: ListedSession) => void): readonly Column<ListedSession>[] {
  return [
    {
      head: t('sessions.browser'),
      cell: ({ userAgent, isCurrent }) => (
        <span class="name-row">
          <span title={userAgent}>{describeUserAgent(userAgent)}</span>
          {isCurrent && <Badge tone="good">{t('sessions.current')}</Badge>}
        </span>
      ),
    },
    { head: t('sessions.address'), cell: ({ address }) => <span class="mono">{address}</span> },
    { head: t('sessions.signedIn'), cell: ({ createdAt }) => formatDateTime(createdAt) },
    {
      head: t('sessions.lastUsed'),
      cell: ({ lastUsedAt }) => <RelativeTime time={lastUsedAt} />,
    },
    {
      head: t('sessions.actions'),
      isActions: true,
      cell: one =>
        one.isCurrent ? (
          <Button small onClick={() => void signOut().catch(showError)}>
            {t('sessions.signOut')}
          </Button>
        ) : (
          <Button
            small
            label={t('sessions.endLabel', { client: describeUserAgent(one.userAgent) })}
            onClick={() => end(one)}
          >
            {t('sessions.end')}
          </Button>
        ),
    },
  ];
}
