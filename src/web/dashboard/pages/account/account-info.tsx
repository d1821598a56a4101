import type { Account } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatNumber } from '../../format/size.ts';
import { formatDateTime } from '../../format/time.ts';
import { environment, projectKey, session } from '../../state/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useSignInMethods } from '../../ui/hooks/use-sign-in-methods.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card, DetailList } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { roleNames } from '../team/roles.ts';

const environmentNames = { sandbox: 'Sandbox', production: 'Production' } as const;

export function AccountInfo() {
  const { email, emailVerified, role, account, environments } = session.value!;
  const loaded = useLoad(projectKey.value, signal => call('GET /account', { signal }));
  return (
    <Card title="Account details">
      <DetailList
        rows={[
          ...(account.name === undefined ? [] : [['Account', account.name] as const]),
          [
            'Email',
            <span key="email" class="name-row">
              <span>{email}</span>
              {!emailVerified && <Badge tone="warning">Unverified</Badge>}
            </span>,
          ],
          ['Created', formatDateTime(account.createdAt)],
          ['Environments', environments.map(name => environmentNames[name]).join(' and ')],
          ['Role', account.isOperator ? `${roleNames[role]}, in the operator’s account` : roleNames[role]],
          [
            'Account ID',
            <span key="id" class="id-row">
              <code>{account.accountId}</code>
              <IconButton
                icon="copy"
                label="Copy account ID"
                onClick={() => void copyText(account.accountId, 'Account ID')}
              />
            </span>,
          ],
        ]}
      />
      {!emailVerified && <UnverifiedNotice />}
      <h3>{environmentNames[environment.value]} limits</h3>
      <LoadedContent loaded={loaded} height={124}>
        {({ limits }) => <DetailList rows={limitRows(limits)} />}
      </LoadedContent>
    </Card>
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

function limitRows({ requestsPerMinute, ...limits }: Account['limits']): (readonly [string, string])[] {
  const perMinute = (limit: number | undefined) =>
    limit === undefined ? 'No limit' : `${formatNumber(limit)} per minute`;
  return [
    ['Read requests', perMinute(requestsPerMinute.reads)],
    ['Write requests', perMinute(requestsPerMinute.writes)],
    ['Uploads', perMinute(requestsPerMinute.uploads)],
    ['API key pairs', `up to ${formatNumber(limits.apiKeyPairs)}`],
    ['Webhooks', `up to ${formatNumber(limits.webhooks)}`],
  ];
}
