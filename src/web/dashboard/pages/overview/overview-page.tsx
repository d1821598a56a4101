import { useState } from 'preact/hooks';
import { environment, session } from '../../state/session.ts';
import { readStored, store } from '../../state/stored.ts';
import { Page } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { BandwidthCard } from './bandwidth-card.tsx';
import { FirstSteps } from './first-steps.tsx';
import { stepsDone } from './first-steps-done.ts';
import { LatestVideos } from './latest-videos.tsx';
import { LiveNow } from './live-now.tsx';
import { SandboxBanner } from './sandbox-banner.tsx';
import { ServerCard } from './server-card.tsx';
import { StorageCard } from './storage-card.tsx';
import { type Overview, useOverview } from './use-overview.ts';

const hiddenName = 'first-steps-hidden';

/** What is live, what was used, how the server is. */
export function OverviewPage() {
  const overview = useOverview();
  const isNew = overview.value?.usage.liveStreams === 0 && overview.value.usage.videos === 0;
  return (
    <Page title="Overview">
      {environment.value === 'sandbox' && <SandboxBanner />}
      <Shown loaded={overview} height={560}>
        {value => <Content overview={value} isNew={isNew} reload={overview.reload} />}
      </Shown>
    </Page>
  );
}

function Content({ overview, isNew, reload }: { overview: Overview; isNew: boolean; reload: () => void }) {
  const [isHidden, setHidden] = useState(readStored(hiddenName) === 'yes');
  const done = stepsDone(overview);
  const hasSteps = !isHidden && !(done.live && done.video && done.key);
  const hide = () => {
    store(hiddenName, 'yes');
    setHidden(true);
  };
  return (
    <div class="stack">
      {hasSteps && <FirstSteps overview={overview} done={done} reload={reload} onHide={hide} />}
      {(!hasSteps || overview.onAir.length > 0) && <LiveNow onAir={overview.onAir} />}
      <div class="columns main-side">
        <div class="stack">
          {!isNew && <LatestVideos videos={overview.videos} />}
          <BandwidthCard bandwidth={overview.usage.bandwidth} />
        </div>
        <div class="stack">
          <StorageCard storage={overview.usage.storage} />
          {session.value?.account.isOperator === true && <ServerCard />}
        </div>
      </div>
    </div>
  );
}
