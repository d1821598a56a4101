import type { Account } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatNumber } from '../../format/size.ts';
import { formatDateTime } from '../../format/time.ts';
import { environment, session } from '../../state/session.ts';
import { IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Card, DetailList } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';

const environmentNames = { sandbox: 'Sandbox', production: 'Production' } as const;

export function AccountInfo() {
  const { email, account, environments } = session.value!;
  const loaded = useLoad(environment.value, signal => call('GET /account', { signal }));
  return (
    <Card title="About this account">
      <DetailList
        rows={[
          ['Email', email],
          ['Since', formatDateTime(account.createdAt)],
          ['Environments', environments.map(name => environmentNames[name]).join(' and ')],
          ...(account.isOperator ? [['Role', 'Runs this server'] as const] : []),
          [
            'Account id',
            <span key="id" class="id-row">
              <code>{account.accountId}</code>
              <IconButton
                icon="copy"
                label="Copy the account id"
                onClick={() => void copyText(account.accountId, 'Account id')}
              />
            </span>,
          ],
        ]}
      />
      <h3>Limits in {environmentNames[environment.value].toLowerCase()}</h3>
      <LoadedContent loaded={loaded} height={124}>
        {({ limits }) => <DetailList rows={limitRows(limits)} />}
      </LoadedContent>
    </Card>
  );
}

function limitRows({ requestsPerMinute, ...limits }: Account['limits']): (readonly [string, string])[] {
  const perMinute = (limit: number | undefined) =>
    limit === undefined ? 'no limit' : `${formatNumber(limit)} a minute`;
  return [
    ['Reading', perMinute(requestsPerMinute.reads)],
    ['Changing', perMinute(requestsPerMinute.writes)],
    ['Uploading', perMinute(requestsPerMinute.uploads)],
    ['API key pairs', `up to ${formatNumber(limits.apiKeyPairs)}`],
    ['Webhooks', `up to ${formatNumber(limits.webhooks)}`],
  ];
}
