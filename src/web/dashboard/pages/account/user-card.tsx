import { session } from '../../state/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { useSignInMethods } from '../../ui/hooks/use-sign-in-methods.ts';
import { Notice } from '../../ui/notice.tsx';
import { DetailList, Section } from '../../ui/page.tsx';
import { roleNames } from '../team/roles.ts';

export function UserCard() {
  const { email, emailVerified, role, account } = session.value!;
  return (
    <Section isSplit title="You">
      <DetailList
        rows={[
          [
            'Email',
            <span key="email" class="name-row">
              <span>{email}</span>
              {!emailVerified && <Badge tone="warning">Unverified</Badge>}
            </span>,
          ],
          ...(account.name === undefined ? [] : [['Account', <bdi key="name">{account.name}</bdi>] as const]),
          ['Role', account.isOperator ? `${roleNames[role]}, in the operator’s account` : roleNames[role]],
        ]}
      />
      {!emailVerified && <UnverifiedNotice />}
    </Section>
  );
}

function UnverifiedNotice() {
  const canReset = useSignInMethods().value?.passwordReset === true;
  return (
    <Notice title="Verify your email address">
      Until then, you can be in one account only.{' '}
      {canReset
        ? 'Sign out, choose “Forgot your password?”, and set a new password with the link in the email.'
        : 'Ask the operator of the server, who gives you a new password.'}{' '}
      This removes your passkeys, two-factor sign-in, sessions and API keys. Set them up again.
    </Notice>
  );
}
