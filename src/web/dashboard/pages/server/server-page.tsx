import type { ServerState, Usage } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatServerWarning } from '../../format/server-warning.ts';
import { t } from '../../texts/server.ts';
import { Badge } from '../../ui/badge.tsx';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { chosenProject, UsageCards, useUsage } from '../usage/usage-page.tsx';
import { ChecksCard } from './checks-card.tsx';
import { NodesCard } from './nodes-card.tsx';
import { LoadCard, SystemCard } from './server-card.tsx';
import { ServerTabs } from './server-tabs.tsx';
import { UnverifiedUsersCard } from './unverified-users-card.tsx';

const refreshMs = 5_000;

/** The page of the server, which only its operator sees. */
export function ServerPage() {
  const loaded = useLoad('', signal => call('GET /server', { signal }));
  const usage = useUsage();
  useInterval(refreshMs, loaded.reload);
  return (
    <Page
      title={t('server.title')}
      lead={t('server.lead')}
      badge={loaded.value !== undefined && <HealthBadge warnings={loaded.value.warnings.length} />}
    >
      <ServerTabs current="/dashboard/server" />
      <LoadedContent loaded={loaded} height={560}>
        {state => <Content state={state} usage={usage} />}
      </LoadedContent>
    </Page>
  );
}

function Content({ state, usage }: { state: ServerState; usage: Loaded<Usage> }) {
  const { nodes, warnings } = state;
  return (
    <div class="stack">
      {warnings.map(({ code, text }) => (
        <Notice key={`${code} ${text}`} tone="warning">
          {formatServerWarning(code, state) ?? <bdi lang="en">{text}</bdi>}
        </Notice>
      ))}
      <div class="columns main-side">
        <div class="stack">
          <LoadCard state={state} />
          {nodes !== undefined && <NodesCard nodes={nodes} />}
          <ChecksCard />
          <UnverifiedUsersCard />
        </div>
        <SystemCard state={state} />
      </div>
      <Section title={t('server.usage', chosenProject())}>
        <UsageCards loaded={usage} />
      </Section>
    </div>
  );
}

function HealthBadge({ warnings }: { warnings: number }) {
  if (warnings === 0) return <Badge tone="good">{t('server.healthy')}</Badge>;
  return <Badge tone="warning">{t('server.warnings', { count: warnings })}</Badge>;
}
