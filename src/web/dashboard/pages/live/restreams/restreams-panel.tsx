import { useState } from 'preact/hooks';
import type { LiveStream, Restream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import type { StreamState } from '../../../broadcasts/stream-state.ts';
import { formatBitrate, formatNumber } from '../../../format/size.ts';
import { formatDateTime, formatSpan } from '../../../format/time.ts';
import { environment } from '../../../state/session.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { Menu } from '../../../ui/menu.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Card } from '../../../ui/page.tsx';
import { EmptyState, LoadError } from '../../../ui/states.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { RestreamDialog } from './restream-dialog.tsx';
import { formatReason, type RestreamRow, restreamRows, restreamStates } from './restream-labels.ts';
import { useRestreams } from './use-restreams.ts';

const maxRestreams = 5;
const tones: Readonly<Record<Restream['state'], Tone>> = {
  idle: 'neutral',
  connecting: 'info',
  live: 'good',
  retrying: 'warning',
  stopped: 'bad',
  disabled: 'neutral',
};

export function RestreamsPanel({
  stream,
  state,
  onChange,
}: {
  stream: LiveStream;
  state: StreamState;
  onChange: (stream: LiveStream) => void;
}) {
  const { liveStreamId, restreams } = stream;
  const { loaded, running } = useRestreams(liveStreamId);
  const [edited, setEdited] = useState<number>();
  const [removed, setRemoved] = useState<number>();
  const isOnAir = state !== 'off';
  const lines = restreamRows(restreams, running);
  const save = async (changed: LiveStream['restreams']) => {
    const body = { restreams: changed };
    onChange(await call('PATCH /live-streams/{liveStreamId}', { params: { liveStreamId }, body }));
    loaded.reload();
    if (isOnAir) showToast('Saved. The change applies from the next broadcast.');
  };
  const add = (
    <Button
      icon="plus"
      small={restreams.length > 0}
      disabled={restreams.length >= maxRestreams}
      onClick={() => setEdited(restreams.length)}
    >
      Add destination
    </Button>
  );
  return (
    <Card title="Restreams" flush actions={restreams.length > 0 && add}>
      {loaded.problem !== undefined && <LoadError problem={loaded.problem} retry={loaded.reload} />}
      {lines.length === 0 ? (
        <EmptyState icon="send" title="Stream to other platforms" action={add}>
          While you’re live, your stream is sent to up to five destinations, such as YouTube or Twitch.
        </EmptyState>
      ) : (
        <Table
          caption="Destinations"
          columns={columnsOf(isOnAir, setEdited, setRemoved)}
          rows={lines}
          keyOf={({ position, name }) => `${position ?? 'removed'} ${name}`}
        />
      )}
      {lines.length > 0 && (
        <p class="hint card-note">
          {restreams.length >= maxRestreams && 'You can have up to five destinations. '}
          {isOnAir && 'Changes apply from the next broadcast. '}
          Stream keys are never shown here.
        </p>
      )}
      {environment.value === 'sandbox' && (
        <Notice>In the sandbox, restreams end after 2 minutes. The live stream continues.</Notice>
      )}
      {edited !== undefined && (
        <RestreamDialog
          restreams={restreams}
          position={edited}
          save={save}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed !== undefined && (
        <ConfirmDialog
          title="Remove this destination?"
          action="Remove destination"
          work={async () => save(restreams.filter((_, position) => position !== removed))}
          onClose={() => setRemoved(undefined)}
        >
          <p>New broadcasts are not sent to “{restreams[removed]?.name}”, and its stream key is deleted.</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

function columnsOf(
  isOnAir: boolean,
  edit: (position: number) => void,
  remove: (position: number) => void,
): Column<RestreamRow>[] {
  return [
    {
      head: 'Destination',
      cell: ({ name, serverUrl }) => (
        <span class="two-lines">
          <strong>{name}</strong>
          <span class="hint">{serverUrl}</span>
        </span>
      ),
    },
    { head: 'State', cell: line => <RestreamState line={line} isOnAir={isOnAir} /> },
    {
      head: 'Bitrate',
      isNumber: true,
      cell: ({ running }) =>
        running?.state === 'live' && running.bitrateBitsPerSecond !== undefined
          ? formatBitrate(running.bitrateBitsPerSecond)
          : '–',
    },
    {
      head: 'Dropped frames',
      isNumber: true,
      cell: ({ running }) =>
        running?.droppedFrames === undefined ? '–' : formatNumber(running.droppedFrames),
    },
    {
      head: 'Actions',
      isActions: true,
      cell: ({ position, name }) =>
        position !== undefined && (
          <Menu
            label={`Actions for ${name}`}
            items={[
              { label: 'Edit', icon: 'edit', onClick: () => edit(position) },
              { label: 'Remove', icon: 'trash', danger: true, onClick: () => remove(position) },
            ]}
          />
        ),
    },
  ];
}

function RestreamState({ line: { position, running }, isOnAir }: { line: RestreamRow; isOnAir: boolean }) {
  if (running === undefined) return <Badge>{isOnAir ? 'Starts with the next broadcast' : 'Off'}</Badge>;
  const { state, since, reason, lastError, retries } = running;
  return (
    <span class="two-lines">
      <span class="actions">
        <Badge tone={tones[state]}>{restreamStates[state]}</Badge>
        {since !== undefined && (
          <span class="hint" title={formatDateTime(since)}>
            for {formatSpan((Date.now() - Date.parse(since)) / 1000)}
          </span>
        )}
      </span>
      {position === undefined && <span class="hint">Removed; ends with this broadcast.</span>}
      {reason !== undefined && (
        <span class="hint" title={lastError}>
          {formatReason(reason)}
        </span>
      )}
      {retries !== undefined && retries > 0 && (
        <span class="hint">Reconnected {retries === 1 ? 'once' : `${formatNumber(retries)} times`}.</span>
      )}
    </span>
  );
}
