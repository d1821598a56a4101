import { useState } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { copyLink } from '../../broadcasts/copy-link.ts';
import { EndBroadcastDialog } from '../../broadcasts/end-broadcast-dialog.tsx';
import { StreamBadge } from '../../broadcasts/stream-badge.tsx';
import { type StreamState, streamStateOf } from '../../broadcasts/stream-state.ts';
import { type RunningBroadcast, useBroadcast } from '../../broadcasts/use-broadcast.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { can, type Scope } from '../../state/session.ts';
import { t } from '../../texts/live.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { showToast } from '../../ui/toast.tsx';
import { LiveClipDialog } from '../clips/live-clip-dialog.tsx';
import { AlarmList } from './health/alarm-list.tsx';
import { HealthPanel } from './health/health-panel.tsx';
import { backToStreams, MissingStream } from './missing-stream.tsx';
import { RecordingsPanel } from './recordings-panel.tsx';
import { RestreamsPanel } from './restreams/restreams-panel.tsx';
import { LivePreview, showInPreview } from './room/live-preview.tsx';
import { RefusalNotice } from './room/refusal-notice.tsx';
import { StatusPanel } from './room/status-panel.tsx';
import { TimelineCard } from './room/timeline-card.tsx';
import { useIngestLog } from './room/use-ingest-log.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { SetupPanel } from './setup-panel.tsx';
import { SharePanel } from './share-panel.tsx';
import { SourcePanel } from './source-panel.tsx';

function panels(): readonly (readonly [id: string, label: string, scope?: Scope])[] {
  return [
    ['set-up', t('page.setup')],
    ['source', t('page.source'), 'live'],
    ['health', t('page.health')],
    ['restreams', t('page.restreams')],
    ['share', t('page.share')],
    ['past', t('streams.recordings')],
    ['settings', t('page.settings'), 'live'],
  ];
}

export function LiveStreamPage({ params }: PageProps) {
  const { liveStreamId = '' } = params;
  const stream = useLoad(`${liveStreamId} ${can('live')}`, signal =>
    call('GET /live-streams/{liveStreamId}', { params: { liveStreamId }, signal }),
  );
  const { value, problem } = stream;
  const broadcast = useBroadcast(liveStreamId, isEnd => {
    if (isEnd && value !== undefined) stream.set({ ...value, broadcasting: false });
    stream.reload();
  });
  if (problem?.status === 404) return <MissingStream />;
  if (value === undefined) {
    return (
      <Page title={t('streams.one')} back={backToStreams()}>
        <LoadedContent loaded={stream} height={420}>
          {() => null}
        </LoadedContent>
      </Page>
    );
  }
  return <StreamPage stream={value} loaded={stream} broadcast={broadcast} />;
}

function StreamPage({
  stream,
  loaded,
  broadcast,
}: {
  stream: LiveStream;
  loaded: Loaded<LiveStream>;
  broadcast: RunningBroadcast;
}) {
  const { liveStreamId, name } = stream;
  const { query } = useQuery();
  const { route } = useLocation();
  const [openDialog, setOpenDialog] = useState<'clip' | 'complete' | 'delete'>();
  const state = streamStateOf(stream.broadcasting, broadcast);
  const allowed = panels().filter(([, , scope]) => scope === undefined || can(scope));
  const opening = useOpeningPart(state);
  const part = allowed.find(([id]) => id === query.part)?.[0] ?? opening;
  const log = useIngestLog(liveStreamId, state, openDialog === 'delete' ? 'never' : undefined, loaded.reload);
  const hrefOf = (id: string) => `/dashboard/live/${liveStreamId}?part=${id}`;
  const path = { params: { liveStreamId } };
  return (
    <Page
      title={name}
      back={backToStreams()}
      badge={<StreamBadge state={state} />}
      actions={
        <>
          {state === 'off' && can('live') && (
            <Button kind="primary" icon="camera" href={`/dashboard/live/${liveStreamId}/studio`}>
              {t('goLive.browserTitle')}
            </Button>
          )}
          <CopyLink stream={stream} />
          {state !== 'off' && can('upload') && (
            <Button icon="clip" onClick={() => setOpenDialog('clip')}>
              {t('page.clip')}
            </Button>
          )}
          {state !== 'off' && can('live') && (
            <Button icon="stop" label={t('page.endBroadcast')} onClick={() => setOpenDialog('complete')}>
              {t('page.end')}
            </Button>
          )}
          {can('live') && (
            <Menu
              label={t('page.more')}
              items={[
                {
                  label: t('page.delete'),
                  icon: 'trash',
                  danger: true,
                  onClick: () => setOpenDialog('delete'),
                },
              ]}
            />
          )}
        </>
      }
    >
      <div class="live-room stack">
        <div class="stream-top">
          <LivePreview stream={stream} />
          <StatusPanel
            stream={stream}
            state={state}
            stats={broadcast.stats}
            alarms={broadcast.alarms}
            connecting={log.connecting}
          >
            <AlarmList alarms={broadcast.alarms} />
            <RefusalNotice stream={stream} entries={log.data} onChange={loaded.set} />
          </StatusPanel>
        </div>
        <TimelineCard
          stream={stream}
          entries={log.data}
          state={state}
          stats={broadcast.stats}
          onJump={state === 'off' ? undefined : jump}
        />
      </div>
      <Tabs
        label={t('page.sections')}
        tabs={allowed.map(([id, label]) => ({ href: hrefOf(id), label }))}
        current={hrefOf(part)}
      />
      {part === 'set-up' &&
        (can('live') ? <SetupPanel stream={stream} onChange={loaded.set} /> : <KeysHidden />)}
      {part === 'source' && <SourcePanel stream={stream} onChange={loaded.set} onOutdated={loaded.reload} />}
      {part === 'health' && <HealthPanel stream={stream} state={state} broadcast={broadcast} />}
      {part === 'restreams' && (
        <RestreamsPanel stream={stream} state={state} onChange={loaded.set} onOutdated={loaded.reload} />
      )}
      {part === 'share' && <SharePanel stream={stream} />}
      {part === 'past' && <RecordingsPanel stream={stream} />}
      {part === 'settings' && <SettingsPanel stream={stream} onChange={loaded.set} />}
      {openDialog === 'clip' && (
        <LiveClipDialog
          stream={stream}
          onCreated={videoId => route(`/dashboard/videos/${videoId}`)}
          onClose={() => setOpenDialog(undefined)}
        />
      )}
      {openDialog === 'complete' && (
        <EndBroadcastDialog
          stream={stream}
          onEnded={loaded.reload}
          onClose={() => setOpenDialog(undefined)}
        />
      )}
      {openDialog === 'delete' && (
        <ConfirmDialog
          title={t('page.deleteTitle')}
          action={t('page.delete')}
          name={name}
          work={async () => {
            await call('DELETE /live-streams/{liveStreamId}', path);
            showToast(t('page.deleted', { name }));
            route(backToStreams().href);
          }}
          onClose={() => setOpenDialog(undefined)}
        >
          <p>{t('page.deleteText')}</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

/** Health while live, also when the stream goes live, and setup otherwise. Stays when the broadcast ends. */
function useOpeningPart(state: StreamState): 'set-up' | 'health' {
  const [hasBeenLive, setHasBeenLive] = useState(state !== 'off');
  if (state !== 'off' && !hasBeenLive) setHasBeenLive(true);
  return hasBeenLive ? 'health' : 'set-up';
}

function CopyLink({ stream }: { stream: LiveStream }) {
  const copying = useSubmit(() => copyLink(stream));
  return (
    <Button icon="link" busy={copying.busy} onClick={copying.submit}>
      {t('streams.copyLink')}
    </Button>
  );
}

function jump(time: number): void {
  if (!showInPreview(time)) showToast(t('page.tooFarBack'));
}

function KeysHidden() {
  return <Notice title={t('page.keysHidden')}>{t('page.keysHiddenText')}</Notice>;
}
