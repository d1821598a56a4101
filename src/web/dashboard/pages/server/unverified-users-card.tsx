import { useState } from 'preact/hooks';
import type { UnverifiedUser, VerifiedUser } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDate } from '../../format/time.ts';
import { rich, t } from '../../texts/server.ts';
import { bold } from '../../ui/bold.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { FormDialog, ResultDialog } from '../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Table } from '../../ui/table.tsx';

const pageSize = 10;

/** Users of all accounts, for the operator. Shows nothing if there are none. */
export function UnverifiedUsersCard() {
  const [page, setPage] = useState(1);
  const [selected, setSelected] = useState<UnverifiedUser>();
  const { value, reload } = useLoad(String(page), signal =>
    call('GET /server/unverified-users', { query: { currentPage: page, pageSize }, signal }),
  );
  if (value === undefined || value.pagination.itemsTotal === 0) return null;
  return (
    <Card title={t('unverified.title')} flush>
      <Table
        caption={t('unverified.title')}
        columns={[
          { head: t('unverified.email'), cell: ({ email }) => <span class="unverified-email">{email}</span> },
          { head: t('unverified.created'), cell: ({ createdAt }) => formatDate(createdAt) },
          {
            head: t('settingList.actions'),
            isActions: true,
            cell: user => (
              <Button
                small
                label={t('unverified.verifyOf', { email: user.email })}
                onClick={() => setSelected(user)}
              >
                {t('unverified.verify')}
              </Button>
            ),
          },
        ]}
        rows={value.data}
        keyOf={({ userId }) => userId}
      />
      {value.pagination.pagesTotal > 1 && (
        <Pagination pagination={value.pagination} what="users" onPage={setPage} />
      )}
      {selected !== undefined && (
        <VerifyDialog
          user={selected}
          onClose={() => {
            setSelected(undefined);
            setPage(1);
            reload();
          }}
        />
      )}
    </Card>
  );
}

function VerifyDialog({ user, onClose }: { user: UnverifiedUser; onClose: () => void }) {
  const [verified, setVerified] = useState<VerifiedUser>();
  const submission = useSubmit(async () => {
    setVerified(await call('POST /server/unverified-users/{userId}/verify', { params: user }));
  });
  if (verified !== undefined) {
    return (
      <ResultDialog title={t('unverified.verified')} onClose={onClose}>
        <Notice tone="warning" title={t('unverified.copyNow')}>
          {t('unverified.passwordText')}
        </Notice>
        <CopyField label={t('unverified.passwordOf', { email: verified.email })} value={verified.password} />
      </ResultDialog>
    );
  }
  return (
    <FormDialog
      title={t('unverified.dialogTitle')}
      action={t('unverified.verify')}
      submission={submission}
      onClose={onClose}
    >
      <p>{rich('unverified.confirm', { email: user.email }, bold)}</p>
      <p>{t('unverified.warning')}</p>
    </FormDialog>
  );
}
