import { session } from '../../state/session.ts';
import { t } from '../../texts/account.ts';
import { Badge } from '../../ui/badge.tsx';
import { useSignInMethods } from '../../ui/hooks/use-sign-in-methods.ts';
import { Notice } from '../../ui/notice.tsx';
import { DetailList, Section } from '../../ui/page.tsx';
import { roleName } from '../team/roles.ts';

export function UserCard() {
  const { email, emailVerified, role, account } = session.value!;
  return (
    <Section isSplit title={t('user.title')}>
      <DetailList
        rows={[
          [
            t('user.email'),
            <span key="email" class="name-row">
              <span>{email}</span>
              {!emailVerified && <Badge tone="warning">{t('user.unverified')}</Badge>}
            </span>,
          ],
          ...(account.name === undefined
            ? []
            : [[t('user.account'), <bdi key="name">{account.name}</bdi>] as const]),
          [
            t('user.role'),
            account.isOperator ? t('user.operatorRole', { role: roleName(role) }) : roleName(role),
          ],
        ]}
      />
      {!emailVerified && <UnverifiedNotice />}
    </Section>
  );
}

function UnverifiedNotice() {
  const canReset = useSignInMethods().value?.passwordReset === true;
  return (
    <Notice title={t('user.verifyTitle')}>
      {canReset ? t('user.verifyByReset') : t('user.verifyByOperator')}
    </Notice>
  );
}
