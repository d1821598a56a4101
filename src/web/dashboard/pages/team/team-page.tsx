import { useState } from 'preact/hooks';
import type { Invitation, Member } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { loadSession } from '../../api/sessions.ts';
import { formatDate } from '../../format/time.ts';
import { session } from '../../state/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { Page, Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showError, showToast } from '../../ui/toast.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { roleNames, roleOptions } from './roles.ts';

const pageSize = 100;
const mailPollMs = 2_000;

export function TeamPage() {
  const isOwner = session.value?.role === 'owner';
  const [isInviting, setInviting] = useNewDialog();
  const [removed, setRemoved] = useState<Member>();
  const members = useLoad('members', signal => call('GET /account/members', { query: { pageSize }, signal }));
  const invitations = useLoad(`invitations ${isOwner}`, async signal =>
    isOwner ? (await call('GET /account/invitations', { query: { pageSize }, signal })).data : [],
  );
  const open = invitations.value ?? [];
  useInterval(
    open.some(({ mail }) => mail?.status === 'sending') ? mailPollMs : undefined,
    invitations.reload,
  );
  const close = () => setRemoved(undefined);
  const change = async (work: Promise<unknown>, message: string) => {
    try {
      await work;
      showToast(message);
    } catch (error) {
      showError(error);
    }
    members.reload();
    invitations.reload();
    await loadSession().catch(showError);
  };
  return (
    <Page
      title="Team"
      lead="Members have access to all projects of the account, in the sandbox and in production. Their role says what they may do."
      actions={
        isOwner && (
          <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite people
          </Button>
        )
      }
    >
      <Section title="Members">
        <LoadedContent loaded={members} height={130}>
          {({ data }) => (
            <Table
              caption="Members"
              columns={memberColumns({
                isOwner,
                setRole: (userId, role) =>
                  void change(
                    call('PATCH /account/members/{userId}', { params: { userId }, body: { role } }),
                    'Role changed.',
                  ),
                remove: setRemoved,
              })}
              rows={data}
              keyOf={({ userId }) => userId}
            />
          )}
        </LoadedContent>
      </Section>
      {open.length > 0 && (
        <Section title="Open invitations">
          <Table
            caption="Open invitations"
            columns={invitationColumns(
              open.some(({ mail }) => mail !== undefined),
              invitation =>
                void change(
                  call('DELETE /account/invitations/{invitationId}', { params: invitation }),
                  'Invitation revoked.',
                ),
            )}
            rows={open}
            keyOf={({ invitationId }) => invitationId}
          />
        </Section>
      )}
      {isInviting && isOwner && (
        <InviteDialog onInvited={invitations.reload} onClose={() => setInviting(false)} />
      )}
      {removed !== undefined && (
        <ConfirmDialog
          title={removed.isYou ? 'Leave this account?' : 'Remove this member?'}
          action={removed.isYou ? 'Leave' : 'Remove'}
          work={async () => {
            await call('DELETE /account/members/{userId}', { params: removed });
            if (removed.isYou === true) await loadSession();
            else members.reload();
          }}
          onClose={close}
        >
          <p>
            {removed.isYou ? 'You lose' : `${removed.email} loses`} access immediately. API keys keep working:
            delete those that should no longer be used.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

function memberColumns({
  isOwner,
  setRole,
  remove,
}: {
  isOwner: boolean;
  setRole: (userId: string, role: Member['role']) => void;
  remove: (member: Member) => void;
}): readonly Column<Member>[] {
  return [
    {
      head: 'Member',
      cell: ({ email, emailVerified, isYou }) => (
        <span class="name-row">
          <span>{email}</span>
          {!emailVerified && <Badge tone="warning">Unverified</Badge>}
          {isYou && <Badge tone="good">You</Badge>}
        </span>
      ),
    },
    {
      head: 'Role',
      cell: ({ userId, email, role }) =>
        isOwner ? (
          <SelectField
            label={`Role of ${email}`}
            hideLabel
            value={role}
            options={roleOptions}
            onValue={next => setRole(userId, next)}
          />
        ) : (
          roleNames[role]
        ),
    },
    { head: 'Joined', cell: ({ createdAt }) => formatDate(createdAt) },
    {
      head: 'Actions',
      isActions: true,
      cell: member =>
        (isOwner || member.isYou) && (
          <Button
            small
            label={member.isYou ? 'Leave this account' : `Remove ${member.email}`}
            onClick={() => remove(member)}
          >
            {member.isYou ? 'Leave' : 'Remove'}
          </Button>
        ),
    },
  ];
}

const mailTexts = { sending: 'Sending…', sent: 'Sent' } as const;

function mailText({ mail }: Invitation): string {
  if (mail === undefined) return 'Not sent';
  if (mail.status !== 'failed') return mailTexts[mail.status];
  const reason = (mail.failure ?? 'unknown reason').replace(/[.!]?$/, '.');
  return `Not sent: ${reason} Invite again, and copy the link.`;
}

function invitationColumns(
  hasMails: boolean,
  revoke: (invitation: Invitation) => void,
): readonly Column<Invitation>[] {
  return [
    { head: 'Invited', cell: ({ email }) => email },
    { head: 'Role', cell: ({ role }) => roleNames[role] },
    ...(hasMails ? [{ head: 'Email sent', cell: mailText }] : []),
    { head: 'Link works until', cell: ({ expiresAt }) => formatDate(expiresAt) },
    {
      head: 'Actions',
      isActions: true,
      cell: invitation => (
        <Button
          small
          label={`Revoke the invitation of ${invitation.email}`}
          onClick={() => revoke(invitation)}
        >
          Revoke
        </Button>
      ),
    },
  ];
}
