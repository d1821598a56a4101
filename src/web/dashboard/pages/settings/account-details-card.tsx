import type { Account } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatNumber } from '../../format/size.ts';
import { formatDateTime } from '../../format/time.ts';
import { environment, projectKey, session } from '../../state/session.ts';
import { IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { DetailList, Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';

const environmentNames = { sandbox: 'Sandbox', production: 'Production' } as const;

export function AccountDetailsCard() {
  const { account, environments } = session.value!;
  const loaded = useLoad(projectKey.value, signal => call('GET /account', { signal }));
  return (
    <Section isSplit title="Account details" id="limits">
      <DetailList
        rows={[
          ['Created', formatDateTime(account.createdAt)],
          ['Environments', environments.map(name => environmentNames[name]).join(' and ')],
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
      <h3>{environmentNames[environment.value]} limits</h3>
      <LoadedContent loaded={loaded} height={124}>
        {({ limits }) => <DetailList rows={limitRows(limits)} />}
      </LoadedContent>
    </Section>
  );
}

function limitRows({ requestsPerMinute, ...limits }: Account['limits']): (readonly [string, string])[] {
  const perMinute = (limit: number | undefined) =>
    limit === undefined ? 'No limit' : `${formatNumber(limit)} per minute`;
  return [
    ['Read requests', perMinute(requestsPerMinute.reads)],
    ['Write requests', perMinute(requestsPerMinute.writes)],
    ['Uploads', perMinute(requestsPerMinute.uploads)],
    ['API keys', `up to ${formatNumber(limits.apiKeyPairs)}`],
    ['Webhooks', `up to ${formatNumber(limits.webhooks)}`],
  ];
}
