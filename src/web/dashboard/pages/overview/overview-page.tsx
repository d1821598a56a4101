import { useState } from 'preact/hooks';
import { readStored, writeStored } from '../../state/local-storage.ts';
import { can, chooseEnvironment, environment, session } from '../../state/session.ts';
import { t } from '../../texts/overview.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { AttentionCard } from './attention/attention-card.tsx';
import { attentionItems } from './attention/attention-items.ts';
import { useAttention } from './attention/use-attention.ts';
import { completedSteps } from './completed-steps.ts';
import { FirstSteps } from './first-steps.tsx';
import { GoLiveCard } from './go-live/go-live-card.tsx';
import { LatestVideos } from './latest-videos.tsx';
import { LiveNow } from './live/live-now.tsx';
import { StatTiles } from './stat-tiles.tsx';
import { type Overview, useOverview } from './use-overview.ts';

const hiddenName = 'first-steps-hidden';

export function OverviewPage() {
  const overview = useOverview();
  return (
    <Page title={t('page.title')}>
      {environment.value === 'sandbox' && <SandboxBanner />}
      <LoadedContent loaded={overview} height={560}>
        {value => <Content overview={value} reload={overview.reload} />}
      </LoadedContent>
    </Page>
  );
}

function Content({ overview, reload }: { overview: Overview; reload: () => void }) {
  const { usage, liveNow, streams, videos } = overview;
  const isNew = usage.liveStreams === 0 && usage.videos === 0;
  return (
    <div class="stack">
      <Steps overview={overview} />
      {!isNew && <StatTiles usage={usage} />}
      {liveNow.length === 0 && can('live') ? (
        <GoLiveCard streams={streams} reload={reload} />
      ) : (
        <LiveNow onAir={liveNow} />
      )}
      <News overview={overview} isNew={isNew && videos.length === 0} />
    </div>
  );
}

function Steps({ overview }: { overview: Overview }) {
  const [isHidden, setHidden] = useState(readStored(hiddenName) === 'yes');
  const done = completedSteps(overview);
  const isDone = done.live && done.video && (done.key || !can('admin'));
  if (isHidden || isDone || !can('upload') || !can('live')) return null;
  const hide = () => {
    writeStored(hiddenName, 'yes');
    setHidden(true);
  };
  return <FirstSteps done={done} onHide={hide} />;
}

function News({ overview, isNew }: { overview: Overview; isNew: boolean }) {
  if (can('live') || can('upload')) return <ProblemsAndVideos overview={overview} isNew={isNew} />;
  return <LatestVideos videos={overview.videos} />;
}

/** Problems beside the latest videos. A new account sees neither until there is one. */
function ProblemsAndVideos({ overview, isNew }: { overview: Overview; isNew: boolean }) {
  const { usage, streams, liveNow, videos } = overview;
  const further = useAttention(liveNow.map(({ stream }) => stream));
  const items =
    further.value === undefined
      ? undefined
      : attentionItems({ ...further.value, usage, streams }, Date.now());
  if (isNew && (items === undefined || items.length === 0)) return null;
  return (
    <div class="columns news">
      <AttentionCard items={items} />
      {!isNew && <LatestVideos videos={videos} />}
    </div>
  );
}

function SandboxBanner() {
  const hasProduction = session.value?.environments.includes('production') ?? false;
  return (
    <Notice
      tone="warning"
      title={t('page.sandbox')}
      action={
        hasProduction ? (
          <Button small onClick={() => chooseEnvironment('production')}>
            {t('page.toProduction')}
          </Button>
        ) : (
          can('admin') && (
            <Button small href="/dashboard/account#upgrade">
              {t('page.upgrade')}
            </Button>
          )
        )
      }
    >
      <p>{t('page.sandboxText')}</p>
    </Notice>
  );
}
