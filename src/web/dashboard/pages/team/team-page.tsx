import { useState } from 'preact/hooks';
import type { Invitation, Member } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { loadSession } from '../../api/sessions.ts';
import { formatDate } from '../../format/time.ts';
import { session } from '../../state/session.ts';
import { t } from '../../texts/account.ts';
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
import { roleName, roleOptions } from './roles.ts';

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
      title={t('team.title')}
      lead={t('team.lead')}
      actions={
        isOwner && (
          <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
            {t('team.invite')}
          </Button>
        )
      }
    >
      <Section title={t('team.members')}>
        <LoadedContent loaded={members} height={130}>
          {({ data }) => (
            <Table
              caption={t('team.members')}
              columns={memberColumns({
                isOwner,
                setRole: (userId, role) =>
                  void change(
                    call('PATCH /account/members/{userId}', { params: { userId }, body: { role } }),
                    t('team.roleChanged'),
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
        <Section title={t('team.invitations')}>
          <Table
            caption={t('team.invitations')}
            columns={invitationColumns(
              open.some(({ mail }) => mail !== undefined),
              invitation =>
                void change(
                  call('DELETE /account/invitations/{invitationId}', { params: invitation }),
                  t('team.revoked'),
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
          title={removed.isYou ? t('team.leaveTitle') : t('team.removeTitle')}
          action={removed.isYou ? t('team.leave') : t('team.remove')}
          work={async () => {
            await call('DELETE /account/members/{userId}', { params: removed });
            if (removed.isYou === true) await loadSession();
            else members.reload();
          }}
          onClose={close}
        >
          <p>{removed.isYou ? t('team.leaveText') : t('team.removeText', { email: removed.email })}</p>
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
      head: t('team.member'),
      cell: ({ email, emailVerified, isYou }) => (
        <span class="name-row">
          <span>{email}</span>
          {!emailVerified && <Badge tone="warning">{t('team.unverified')}</Badge>}
          {isYou && <Badge tone="good">{t('team.you')}</Badge>}
        </span>
      ),
    },
    {
      head: t('team.role'),
      cell: ({ userId, email, role }) =>
        isOwner ? (
          <SelectField
            label={t('team.roleOf', { email })}
            hideLabel
            value={role}
            options={roleOptions()}
            onValue={next => setRole(userId, next)}
          />
        ) : (
          roleName(role)
        ),
    },
    { head: t('team.joined'), cell: ({ createdAt }) => formatDate(createdAt) },
    {
      head: t('team.actions'),
      isActions: true,
      cell: member =>
        (isOwner || member.isYou) && (
          <Button
            small
            label={member.isYou ? t('team.leaveLabel') : t('team.removeLabel', { email: member.email })}
            onClick={() => remove(member)}
          >
            {member.isYou ? t('team.leave') : t('team.remove')}
          </Button>
        ),
    },
  ];
}

function mailText({ mail }: Invitation): string {
  if (mail === undefined) return t('team.mail.notSent');
  if (mail.status !== 'failed') return t(`team.mail.${mail.status}`);
  const reason = (mail.failure ?? t('team.mail.unknown')).replace(/[.!]?$/, '.');
  return t('team.mail.failed', { reason });
}

function invitationColumns(
  hasMails: boolean,
  revoke: (invitation: Invitation) => void,
): readonly Column<Invitation>[] {
  return [
    { head: t('team.invited'), cell: ({ email }) => email },
    { head: t('team.role'), cell: ({ role }) => roleName(role) },
    ...(hasMails ? [{ head: t('team.emailSent'), cell: mailText }] : []),
    { head: t('team.worksUntil'), cell: ({ expiresAt }) => formatDate(expiresAt) },
    {
      head: t('team.actions'),
      isActions: true,
      cell: invitation => (
        <Button
          small
          label={t('team.revokeLabel', { email: invitation.email })}
          onClick={() => revoke(invitation)}
        >
          {t('team.revoke')}
        </Button>
      ),
    },
  ];
}
