import { useEffect, useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { useBroadcast } from '../../../broadcasts/use-broadcast.ts';
import type { PageProps } from '../../../shell/page-props.ts';
import { environment } from '../../../state/session.ts';
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
  const back = { href: `/dashboard/live/${liveStreamId}`, label: stream.value?.name ?? 'Live stream' };
  return (
    <Page title="Studio" back={back} lead="Go live from this browser, without an encoder.">
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
    if (isEnd && studio.state.value.kind === 'live') void studio.end('It was ended on the server.');
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
      <Notice tone="warning" title="You can’t go live here">
        {problem}
      </Notice>
    );
  const { media, isOnAir } = studio;
  const captureProblem = media.problem.value;
  const hasVideo = media.video.value !== undefined;
  return (
    <>
      {environment.value === 'sandbox' && (
        <Notice>You’re in the sandbox: broadcasts are short and have a watermark.</Notice>
      )}
      {videoCodec() === 'av1' && (
        <Notice>
          Your browser can’t send H.264 and sends AV1. Some phones, TVs and older browsers can’t play AV1
          unless the live stream has renditions.
        </Notice>
      )}
      {videoCodec() === 'vp8' && (
        <Notice>
          Your browser can’t send H.264 and sends VP8. The server encodes it, so that all viewers can play it.
        </Notice>
      )}
      {captureProblem !== undefined && <Notice tone="bad">{captureProblem}</Notice>}
      <div class="live-room stack">
        <div class="stream-top">
          {hasVideo ? <StudioPreview media={media} /> : <TurnOn studio={studio} />}
          <OnAirCard studio={studio} stream={stream} stats={isOnAir ? broadcast.stats : undefined} />
        </div>
        {isOnAir && <AlarmList alarms={broadcast.alarms} />}
      </div>
      {hasVideo && <StudioBar studio={studio} stream={stream} />}
      <LeaveGuard isActive={isOnAir} title="Leave and end the broadcast?" action="End and leave">
        You’re live. Leaving this page ends the broadcast for your viewers.
      </LeaveGuard>
    </>
  );
}

function TurnOn({ studio: { media } }: { studio: Studio }) {
  const isBusy = media.isBusy.value;
  return (
    <Card title="Choose what viewers see">
      <p>
        Your browser asks whether this page may use your camera and microphone. You see your video first:
        nothing is sent before you press “Go live”.
      </p>
      <div class="actions">
        <Button kind="primary" icon="video" busy={isBusy} onClick={() => void media.start('camera')}>
          Turn on camera
        </Button>
        {canShareScreen() && (
          <Button icon="screen" busy={isBusy} onClick={() => void media.start('screen')}>
            Share screen
          </Button>
        )}
      </div>
    </Card>
  );
}
