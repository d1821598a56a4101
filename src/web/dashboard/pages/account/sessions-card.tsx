import { useState } from 'preact/hooks';
import type { ListedSession } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { signOut } from '../../api/sessions.ts';
import { formatDateTime } from '../../format/time.ts';
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
      title="Active sessions"
      actions={
        hasOthers && (
          <Button small onClick={() => setEnding('others')}>
            Sign out everywhere else
          </Button>
        )
      }
    >
      <LoadedContent loaded={loaded} height={130}>
        {({ data, pagination }) => (
          <>
            <Table
              caption="Sessions"
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
          title="Sign out everywhere else?"
          action="Sign out everywhere else"
          work={async () => {
            await call('DELETE /account/sessions');
            showToast('You’re signed out everywhere else.');
            setPage(1);
            loaded.reload();
          }}
          onClose={close}
        >
          <p>All other sessions end immediately.</p>
        </ConfirmDialog>
      )}
      {ending !== undefined && ending !== 'others' && (
        <ConfirmDialog
          title="End this session?"
          action="End session"
          work={async () => {
            await call('DELETE /account/sessions/{sessionId}', { params: ending });
            showToast('Session ended.');
            loaded.reload();
          }}
          onClose={close}
        >
          <p>
            {describeUserAgent(ending.userAgent)}, from {ending.address}, is signed out immediately.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function columnsOf(end: (session: ListedSession) => void): readonly Column<ListedSession>[] {
  return [
    {
      head: 'Browser',
      cell: ({ userAgent, isCurrent }) => (
        <span class="name-row">
          <span title={userAgent}>{describeUserAgent(userAgent)}</span>
          {isCurrent && <Badge tone="good">This session</Badge>}
        </span>
      ),
    },
    { head: 'Address', cell: ({ address }) => <span class="mono">{address}</span> },
    { head: 'Signed in', cell: ({ createdAt }) => formatDateTime(createdAt) },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }) => <RelativeTime time={lastUsedAt} />,
    },
    {
      head: 'Actions',
      isActions: true,
      cell: one =>
        one.isCurrent ? (
          <Button small onClick={() => void signOut().catch(showError)}>
            Sign out
          </Button>
        ) : (
          <Button small label={`End session of ${describeUserAgent(one.userAgent)}`} onClick={() => end(one)}>
            End
          </Button>
        ),
    },
  ];
}
