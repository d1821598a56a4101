import { useEffect, useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { useBroadcast } from '../../../broadcasts/use-broadcast.ts';
import type { PageProps } from '../../../shell/page-props.ts';
import { environment } from '../../../state/session.ts';
import { t } from '../../../texts/live.ts';
import { Button } from '../../../ui/button.tsx';
import { LeaveGuard } from '../../../ui/dialog/leave-guard.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { useLocation } from '../../../ui/hooks/use-location.ts';
import { Notice } from '../../../ui/notice.tsx';
import { Card, Page } from '../../../ui/page.tsx';
import { LoadedContent } from '../../../ui/states.tsx';
import { AlarmList } from '../health/alarm-list.tsx';
import { MissingStream } from '../missing-stream.tsx';
import { canShareScreen, studioProblem, videoCodec } from './capture.ts';
import { OnAirCard } from './on-air-card.tsx';
import { Studio } from './studio.ts';
import { StudioBar } from './studio-bar.tsx';
import { StudioPreview } from './studio-preview.tsx';

/** Goes live with the camera, the microphone or the screen of this browser. */
export function StudioPage({ params }: PageProps) {
  const { liveStreamId = '' } = params;
  const stream = useLoad(liveStreamId, signal =>
    call('GET /live-streams/{liveStreamId}', { params: { liveStreamId }, signal }),
  );
  if (stream.problem?.status === 404) return <MissingStream />;
  const back = { href: `/dashboard/live/${liveStreamId}`, label: stream.value?.name ?? t('streams.one') };
  return (
    <Page title={t('studio.title')} back={back} lead={t('studio.lead')}>
      <LoadedContent loaded={stream} height={420}>
        {value => <StudioDesk stream={value} />}
      </LoadedContent>
    </Page>
  );
}

function StudioDesk({ stream }: { stream: LiveStream }) {
  const [studio] = useState(() => new Studio());
  const broadcast = useBroadcast(stream.liveStreamId, isEnd => {
    // The feed reports it before the connection notices.
    if (isEnd && studio.state.value.kind === 'live') void studio.end(t('studio.endedOnServer'));
  });
  useEffect(() => {
    const onHide = () => studio.close();
    addEventListener('pagehide', onHide);
    return () => {
      removeEventListener('pagehide', onHide);
      studio.close();
    };
  }, [studio]);
  const problem = studioProblem();
  const { query } = useLocation();
  useEffect(() => {
    if (query.camera === 'on' && problem === undefined) void studio.media.start('camera');
  }, [studio]);
  if (problem !== undefined)
    return (
      <Notice tone="warning" title={t('studio.notHere')}>
        {problem}
      </Notice>
    );
  const { media, isOnAir } = studio;
  const captureProblem = media.problem.value;
  const hasVideo = media.video.value !== undefined;
  return (
    <>
      {environment.value === 'sandbox' && <Notice>{t('studio.sandbox')}</Notice>}
      {videoCodec() === 'av1' && <Notice>{t('studio.av1')}</Notice>}
      {videoCodec() === 'vp8' && <Notice>{t('studio.vp8')}</Notice>}
      {captureProblem !== undefined && <Notice tone="bad">{captureProblem}</Notice>}
      <div class="live-room stack">
        <div class="stream-top">
          {hasVideo ? <StudioPreview media={media} /> : <TurnOn studio={studio} />}
          <OnAirCard studio={studio} stream={stream} stats={isOnAir ? broadcast.stats : undefined} />
        </div>
        {isOnAir && <AlarmList alarms={broadcast.alarms} />}
      </div>
      {hasVideo && <StudioBar studio={studio} stream={stream} />}
      <LeaveGuard isActive={isOnAir} title={t('studio.leaveTitle')} action={t('studio.leave')}>
        {t('studio.leaveText')}
      </LeaveGuard>
    </>
  );
}

function TurnOn({ studio: { media } }: { studio: Studio }) {
  const isBusy = media.isBusy.value;
  return (
    <Card title={t('studio.choose')}>
      <p>{t('studio.chooseText')}</p>
      <div class="actions">
        <Button kind="primary" icon="video" busy={isBusy} onClick={() => void media.start('camera')}>
          {t('studio.turnOn')}
        </Button>
        {canShareScreen() && (
          <Button icon="screen" busy={isBusy} onClick={() => void media.start('screen')}>
            {t('studio.shareScreen')}
          </Button>
        )}
      </div>
    </Card>
  );
}
