import type { Account } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';

import { formatDateTime } from '../../format/time.ts';
import { environment, projectKey, session } from '../../state/session.ts';
import { locale } from '../../state/texts.ts';
import { t } from '../../texts/server.ts';
import { IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { DetailList, Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';

export function AccountDetailsCard() {
  const { account, environments } = session.value!;
  const loaded = useLoad(projectKey.value, signal => call('GET /account', { signal }));
  return (
    <Section isSplit title={t('account.details')} id="limits">
      <DetailList
        rows={[
          [t('account.created'), formatDateTime(account.createdAt)],
          [
            t('account.environments'),
            new Intl.ListFormat(locale()).format(environments.map(name => t(`account.environment.${name}`))),
          ],
          [
            t('account.id'),
            <span key="id" class="id-row">
              <code>{account.accountId}</code>
              <IconButton
                icon="copy"
                label={t('account.copyId')}
                onClick={() => void copyText(account.accountId, t('account.id'))}
              />
            </span>,
          ],
        ]}
      />
      <h3>{t(`account.limits.${environment.value}`)}</h3>
      <LoadedContent loaded={loaded} height={124}>
        {({ limits }) => <DetailList rows={limitRows(limits)} />}
      </LoadedContent>
    </Section>
  );
}

function limitRows({ requestsPerMinute, ...limits }: Account['limits']): (readonly [string, string])[] {
  const perMinute = (limit: number | undefined) =>
    limit === undefined ? t('account.noLimit') : t('account.perMinute', { count: limit });
  return [
    [t('account.reads'), perMinute(requestsPerMinute.reads)],
    [t('account.writes'), perMinute(requestsPerMinute.writes)],
    [t('account.uploads'), perMinute(requestsPerMinute.uploads)],
    [t('account.apiKeys'), t('account.upTo', { count: limits.apiKeyPairs })],
    [t('account.webhooks'), t('account.upTo', { count: limits.webhooks })],
  ];
}
