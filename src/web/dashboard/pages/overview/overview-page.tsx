import { useState } from 'preact/hooks';
import { readStored, writeStored } from '../../state/local-storage.ts';
import { can, chooseEnvironment, environment, session } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { BandwidthCard } from '../usage/bandwidth-card.tsx';
import { StorageCard } from '../usage/storage-card.tsx';
import { completedSteps } from './completed-steps.ts';
import { FirstSteps } from './first-steps.tsx';
import { LatestVideos } from './latest-videos.tsx';
import { LiveNow } from './live-now.tsx';
import { type Overview, useOverview } from './use-overview.ts';

const hiddenName = 'first-steps-hidden';

export function OverviewPage() {
  const overview = useOverview();
  const isNew = overview.value?.usage.liveStreams === 0 && overview.value.usage.videos === 0;
  return (
    <Page title="Overview">
      {environment.value === 'sandbox' && <SandboxBanner />}
      <LoadedContent loaded={overview} height={560}>
        {value => <Content overview={value} isNew={isNew} reload={overview.reload} />}
      </LoadedContent>
    </Page>
  );
}

function Content({ overview, isNew, reload }: { overview: Overview; isNew: boolean; reload: () => void }) {
  const [isHidden, setHidden] = useState(readStored(hiddenName) === 'yes');
  const done = completedSteps(overview);
  const isDone = done.live && done.video && (done.key || !can('admin'));
  const hasSteps = !isHidden && !isDone && can('upload') && can('live');
  const hide = () => {
    writeStored(hiddenName, 'yes');
    setHidden(true);
  };
  return (
    <div class="stack">
      {hasSteps && <FirstSteps overview={overview} done={done} reload={reload} onHide={hide} />}
      {(!hasSteps || overview.liveNow.length > 0) && <LiveNow onAir={overview.liveNow} />}
      <div class="columns main-side">
        <div class="stack">
          {!isNew && <LatestVideos videos={overview.videos} />}
          <BandwidthCard bandwidth={overview.usage.bandwidth} />
        </div>
        <div class="stack">
          <StorageCard storage={overview.usage.storage} />
        </div>
      </div>
    </div>
  );
}

function SandboxBanner() {
  const hasProduction = session.value?.environments.includes('production') ?? false;
  return (
    <Notice
      tone="warning"
      title="You’re in the sandbox"
      action={
        hasProduction ? (
          <Button small onClick={() => chooseEnvironment('production')}>
            Switch to production
          </Button>
        ) : (
          can('admin') && (
            <Button small href="/dashboard/account#upgrade">
              Upgrade
            </Button>
          )
        )
      }
    >
      <p>
        Videos and streams carry a watermark. Videos and recordings are cut after 30 seconds and deleted after
        24 hours, live streams end after 30 minutes, and restreams after 2 minutes.
      </p>
    </Notice>
  );
}
