import type { Usage } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { environment, project, projectKey } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { Page } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { BandwidthCard } from './bandwidth-card.tsx';
import { StorageCard } from './storage-card.tsx';

const refreshMs = 30_000;

export function UsagePage() {
  const loaded = useUsage();
  return (
    <Page title={t('usage.title')} lead={t('usage.lead', chosenProject())}>
      <UsageCards loaded={loaded} />
    </Page>
  );
}

export function useUsage(): Loaded<Usage> {
  const loaded = useLoad(projectKey.value, signal => call('GET /usage', { signal }));
  useInterval(refreshMs, loaded.reload);
  return loaded;
}

/** Names the chosen project and environment for a text. */
export function chosenProject(): { project: string; environment: string } {
  return { project: project.value?.name ?? '', environment: environment.value };
}

export function UsageCards({ loaded }: { loaded: Loaded<Usage> }) {
  return (
    <LoadedContent loaded={loaded} height={300}>
      {({ storage, bandwidth }) => (
        <div class="columns">
          <StorageCard storage={storage} />
          <BandwidthCard bandwidth={bandwidth} />
        </div>
      )}
    </LoadedContent>
  );
}
