import { useMemo, useState } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { StreamBadge } from '../../broadcasts/stream-badge.tsx';
import { streamStateOf } from '../../broadcasts/stream-state.ts';
import { type RunningBroadcast, useBroadcast } from '../../broadcasts/use-broadcast.ts';
import { localUrl } from '../../format/local-url.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { can, elsewhere, type Scope } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { showToast } from '../../ui/toast.tsx';
import { LiveClipDialog } from '../clips/live-clip-dialog.tsx';
import { AlarmList } from './health/alarm-list.tsx';
import { HealthPanel } from './health/health-panel.tsx';
import { RecordingsPanel } from './recordings-panel.tsx';
import { RestreamsPanel } from './restreams/restreams-panel.tsx';
import { SettingsPanel } from './settings-panel.tsx';
import { SetupPanel } from './setup-panel.tsx';
import { SharePanel } from './share-panel.tsx';
import { SourcePanel } from './source-panel.tsx';
import { StatusCard } from './status-card.tsx';

const back = { href: '/dashboard/live', label: 'Live streams' };

const panels: readonly (readonly [id: string, label: string, scope?: Scope])[] = [
  ['set-up', 'Setup'],
  ['source', 'Source', 'live'],
  ['health', 'Health'],
  ['restreams', 'Restreams'],
  ['share', 'Share'],
  ['past', 'Recordings'],
  ['settings', 'Settings', 'live'],
];

const first = 'set-up';

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
  if (value === undefined) {
    return (
      <Page title="Live stream" back={back}>
        {problem?.status === 404 ? (
          <EmptyState
            icon="live"
            title="Live stream not found"
            action={<Button href={back.href}>Go to live streams</Button>}
          >
            It may have been deleted, or belong to {elsewhere.value}.
          </EmptyState>
        ) : (
          <LoadedContent loaded={stream} height={420}>
            {() => null}
          </LoadedContent>
        )}
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
  const allowed = panels.filter(([, , scope]) => scope === undefined || can(scope));
  const part = allowed.find(([id]) => id === query.part)?.[0] ?? first;
  const address = `/dashboard/live/${liveStreamId}`;
  const hrefOf = (id: string) => (id === first ? address : `${address}?part=${id}`);
  const path = { params: { liveStreamId } };
  return (
    <Page
      title={name}
      back={back}
      badge={<StreamBadge state={state} />}
      actions={
        <>
          {state === 'off' && can('live') && (
            <Button icon="video" href={`/dashboard/live/${liveStreamId}/studio`}>
              Go live from this browser
            </Button>
          )}
          {state !== 'off' && can('upload') && (
            <Button icon="clip" onClick={() => setOpenDialog('clip')}>
              Clip
            </Button>
          )}
          {state !== 'off' && can('live') && (
            <Button icon="stop" onClick={() => setOpenDialog('complete')}>
              End broadcast
            </Button>
          )}
          {can('live') && (
            <Menu
              label="More actions"
              items={[
                {
                  label: 'Delete live stream',
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
      <div>
        <div class="stream-top">
          <Preview stream={stream} />
          <StatusCard stream={stream} state={state} stats={broadcast.stats} alarms={broadcast.alarms} />
        </div>
        <AlarmList alarms={broadcast.alarms} />
        {stream.refusedEncoder !== undefined && (
          <RefusedEncoder stream={stream} encoder={stream.refusedEncoder} onChange={loaded.set} />
        )}
      </div>
      <Tabs
        label="Live stream sections"
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
        <ConfirmDialog
          title="End the broadcast?"
          action="End broadcast"
          work={async () => {
            await call('PUT /live-streams/{liveStreamId}/complete', path);
            loaded.reload();
          }}
          onClose={() => setOpenDialog(undefined)}
        >
          <p>Viewers see that the stream has ended, and what was recorded becomes a video.</p>
          <p>
            Your encoder is disconnected, and can’t come back until it has stayed away for a minute or you
            allow it again. Another encoder can go live immediately with the same stream key.
          </p>
        </ConfirmDialog>
      )}
      {openDialog === 'delete' && (
        <ConfirmDialog
          title="Delete this live stream?"
          action="Delete live stream"
          name={name}
          work={async () => {
            await call('DELETE /live-streams/{liveStreamId}', path);
            showToast(`“${name}” was deleted.`);
            route(back.href);
          }}
          onClose={() => setOpenDialog(undefined)}
        >
          <p>
            The stream key, links and broadcast history are deleted permanently, and a running broadcast ends.
            Live streams don’t go to the trash, so this can’t be undone. Recordings stay in your videos.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

/** Explains why the encoder is rejected after “End broadcast”: most encoders reconnect automatically. */
function RefusedEncoder({
  stream,
  encoder,
  onChange,
}: {
  stream: LiveStream;
  encoder: NonNullable<LiveStream['refusedEncoder']>;
  onChange: (stream: LiveStream) => void;
}) {
  const { liveStreamId } = stream;
  const allowing = useSubmit(async () => {
    onChange(await call('PUT /live-streams/{liveStreamId}/allow-again', { params: { liveStreamId } }));
    showToast('The encoder can go live again.');
  });
  return (
    <Notice
      tone="warning"
      action={
        <Button small busy={allowing.busy} onClick={allowing.submit}>
          Allow again
        </Button>
      }
    >
      You ended the broadcast. The encoder {encoder.name === '' ? '' : `“${encoder.name}” `}at{' '}
      {encoder.address} is refused until it has stayed away for a minute.
    </Notice>
  );
}

function KeysHidden() {
  return (
    <Notice title="Stream keys are hidden from your role">
      Anyone with the stream key can go live. Ask an owner of the account for a role that can go live.
    </Notice>
  );
}

function Preview({ stream }: { stream: LiveStream }) {
  const { liveStreamId, name, playerId, assets } = stream;
  // Each answer about a private stream has a new URL. Keeping the first keeps the player running.
  const address = useMemo(
    () => `${localUrl(assets.player)}#autoplay;muted;analytics:false`,
    [liveStreamId, stream.public, playerId],
  );
  return (
    <div class="preview">
      <iframe key={address} title={`Preview of ${name}`} src={address} allow="autoplay; fullscreen" />
    </div>
  );
}
