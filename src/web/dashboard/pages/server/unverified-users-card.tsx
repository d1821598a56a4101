import { useState } from 'preact/hooks';
import type { UnverifiedUser, VerifiedUser } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDate } from '../../format/time.ts';
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
    <Card title="Unverified users" flush>
      <Table
        caption="Unverified users"
        columns={[
          { head: 'Email', cell: ({ email }) => email },
          { head: 'Created', cell: ({ createdAt }) => formatDate(createdAt) },
          {
            head: 'Actions',
            isActions: true,
            cell: user => (
              <Button small label={`Verify ${user.email}`} onClick={() => setSelected(user)}>
                Verify
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
      <ResultDialog title="User verified" onClose={onClose}>
        <Notice tone="warning" title="Copy it now.">
          The new password is shown only once. Give it to the person whose address this is.
        </Notice>
        <CopyField label={`Password of ${verified.email}`} value={verified.password} />
      </ResultDialog>
    );
  }
  return (
    <FormDialog title="Verify this user?" action="Verify" submission={submission} onClose={onClose}>
      <p>
        You confirm that <strong>{user.email}</strong> belongs to the person to whom you give the new
        password.
      </p>
      <p>
        Someone else may have set up this user. Their password, passkeys, two-factor sign-in, sessions and API
        keys stop working.
      </p>
    </FormDialog>
  );
}
