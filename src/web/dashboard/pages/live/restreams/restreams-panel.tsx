import { useRef, useState } from 'preact/hooks';
import { maxRestreams } from '../../../../../shared/limits/resource-limits.ts';
import type { LiveStream, Restream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { ApiProblem } from '../../../api/problem.ts';
import type { StreamState } from '../../../broadcasts/stream-state.ts';
import { formatBitrate, formatNumber } from '../../../format/size.ts';
import { formatDateTime, formatSpan } from '../../../format/time.ts';
import { can, environment } from '../../../state/session.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { Switch } from '../../../ui/form/switch.tsx';
import { Menu } from '../../../ui/menu.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Card } from '../../../ui/page.tsx';
import { EmptyState, LoadError } from '../../../ui/states.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import { showError } from '../../../ui/toast.tsx';
import { RestreamDialog } from './restream-dialog.tsx';
import {
  type Destination,
  destinationsOf,
  formatReason,
  formatRendition,
  isEnabled,
  type RestreamRow,
  restreamRows,
  restreamStates,
} from './restream-labels.ts';
import { useRestreams } from './use-restreams.ts';

const tones: Readonly<Record<Restream['state'], Tone>> = {
  idle: 'neutral',
  connecting: 'info',
  live: 'good',
  retrying: 'warning',
  stopped: 'bad',
  disabled: 'neutral',
};

type OpenDialog =
  | { readonly what: 'add' }
  | { readonly what: 'edit' | 'remove' | 'disable'; readonly row: RestreamRow };

export function RestreamsPanel({
  stream,
  state,
  onChange,
  onOutdated,
}: {
  stream: LiveStream;
  state: StreamState;
  onChange: (stream: LiveStream) => void;
  onOutdated: () => void;
}) {
  const { liveStreamId } = stream;
  const restreams = destinationsOf(stream);
  const { loaded, statuses, refresh } = useRestreams(liveStreamId, onOutdated);
  const [openDialog, setOpenDialog] = useState<OpenDialog>();
  const saving = useRef<Promise<void>>(Promise.resolve());
  const [switched, setSwitched] = useState<Destination>();
  const rows = restreamRows(restreams, statuses);
  const isFull = restreams.length >= maxRestreams;
  const close = () => setOpenDialog(undefined);

  /** Keeps what somebody else changed in the meantime. */
  const replaceNow = async (before: Destination | undefined, after: readonly Destination[]) => {
    const params = { liveStreamId };
    const current = destinationsOf(await call('GET /live-streams/{liveStreamId}', { params }));
    const index = before === undefined ? current.length : indexOf(current, before);
    if (index === -1) {
      onOutdated();
      throw new ApiProblem(409, {
        title: 'Someone else changed this destination.',
        detail: 'Check its settings and try again.',
      });
    }
    const body = { restreams: [...current.slice(0, index), ...after, ...current.slice(index + 1)] };
    onChange(await call('PATCH /live-streams/{liveStreamId}', { params, body }));
    refresh();
  };
  const replace = (...change: Parameters<typeof replaceNow>) => {
    const saved = saving.current.then(() => replaceNow(...change));
    saving.current = saved.catch(() => {});
    return saved;
  };
  const setEnabled = async (destination: Destination, enabled: boolean) => {
    setSwitched(destination);
    try {
      await replace(destination, [{ ...destination, enabled }]);
    } finally {
      setSwitched(undefined);
    }
  };
  const canEdit = can('live');
  const changes: RowChanges = {
    switched,
    toggle: row => {
      const { destination } = row;
      if (row.status?.state === 'live') setOpenDialog({ what: 'disable', row });
      else setEnabled(destination, !isEnabled(destination)).catch(showError);
    },
    openDialog: (what, row) => setOpenDialog({ what, row }),
  };
  const columns = [...columnsOf(state !== 'off'), ...(canEdit ? changeColumns(changes) : [])];
  const add = canEdit && (
    <Button
      icon="plus"
      small={restreams.length > 0}
      disabled={isFull}
      onClick={() => setOpenDialog({ what: 'add' })}
    >
      Add destination
    </Button>
  );
  return (
    <Card title="Restreams" flush actions={restreams.length > 0 && add}>
      {loaded.problem !== undefined && <LoadError problem={loaded.problem} retry={loaded.reload} />}
      {rows.length === 0 ? (
        <EmptyState icon="send" title="Stream to other platforms" action={add}>
          While you’re live, your stream is sent to up to five destinations, such as YouTube or Twitch.
          {canEdit && ' You can add them at any time, also during a broadcast.'}
        </EmptyState>
      ) : (
        <Table
          caption="Destinations"
          columns={columns}
          rows={rows}
          keyOf={({ destination }) => `${restreams.indexOf(destination)}`}
        />
      )}
      {rows.length > 0 && (
        <p class="hint card-note">
          {isFull && 'You can have up to five destinations. '}
          {canEdit && 'Changes apply immediately, also while you’re live. '}Stream keys are never shown here.
        </p>
      )}
      {environment.value === 'sandbox' && (
        <Notice>In the sandbox, restreams end after 2 minutes. The live stream continues.</Notice>
      )}
      {(openDialog?.what === 'add' || openDialog?.what === 'edit') && (
        <RestreamDialog
          before={openDialog.what === 'edit' ? openDialog.row.destination : undefined}
          isLive={openDialog.what === 'edit' && openDialog.row.status?.state === 'live'}
          renditions={loaded.value?.renditions ?? ['source']}
          save={destination =>
            replace(openDialog.what === 'edit' ? openDialog.row.destination : undefined, [destination])
          }
          onClose={close}
        />
      )}
      {openDialog?.what === 'remove' && (
        <ConfirmDialog
          title="Remove this destination?"
          action="Remove destination"
          work={() => replace(openDialog.row.destination, [])}
          onClose={close}
        >
          {openDialog.row.status?.state === 'live' && <LiveNow name={openDialog.row.destination.name} />}
          <p>
            The server forgets “{openDialog.row.destination.name}” and its stream key. To keep them, turn the
            destination off instead.
          </p>
        </ConfirmDialog>
      )}
      {openDialog?.what === 'disable' && (
        <ConfirmDialog
          title="Turn off this destination?"
          action="Turn off"
          work={() => setEnabled(openDialog.row.destination, false)}
          onClose={close}
        >
          <LiveNow name={openDialog.row.destination.name} />
          <p>Your other destinations and your own viewers are not affected.</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

function LiveNow({ name }: { name: string }) {
  return <p>“{name}” is live now. Its viewers will no longer get your stream.</p>;
}

function indexOf(destinations: readonly Destination[], destination: Destination): number {
  const text = JSON.stringify(destination);
  return destinations.findIndex(other => JSON.stringify(other) === text);
}

interface RowChanges {
  readonly switched: Destination | undefined;
  readonly toggle: (row: RestreamRow) => void;
  readonly openDialog: (what: 'edit' | 'remove', row: RestreamRow) => void;
}

function columnsOf(isOnAir: boolean): Column<RestreamRow>[] {
  return [
    {
      head: 'Destination',
      cell: ({ destination: { name, rendition = 'source' }, serverUrl }) => (
        <span class="two-lines">
          <strong>{name}</strong>
          <span class="hint">{serverUrl}</span>
          {rendition !== 'source' && <span class="hint">Rendition: {formatRendition(rendition)}</span>}
        </span>
      ),
    },
    { head: 'State', cell: row => <RestreamState row={row} isOnAir={isOnAir} /> },
    {
      head: 'Bitrate',
      isNumber: true,
      cell: ({ status }) =>
        status?.state === 'live' && status.bitrateBitsPerSecond !== undefined
          ? formatBitrate(status.bitrateBitsPerSecond)
          : '–',
    },
    {
      head: 'Dropped frames',
      isNumber: true,
      cell: ({ status }) =>
        status?.droppedFrames === undefined || status.state === 'disabled'
          ? '–'
          : formatNumber(status.droppedFrames),
    },
  ];
}

function changeColumns({ switched, toggle, openDialog }: RowChanges): Column<RestreamRow>[] {
  return [
    {
      head: 'On',
      cell: row => (
        <Switch
          label={`Send to ${row.destination.name}`}
          checked={isEnabled(row.destination)}
          busy={row.destination === switched}
          onClick={() => toggle(row)}
        />
      ),
    },
    {
      head: 'Actions',
      isActions: true,
      cell: row => (
        <Menu
          label={`Actions for ${row.destination.name}`}
          items={[
            { label: 'Edit', icon: 'edit', onClick: () => openDialog('edit', row) },
            { label: 'Remove', icon: 'trash', danger: true, onClick: () => openDialog('remove', row) },
          ]}
        />
      ),
    },
  ];
}

function RestreamState({ row: { destination, status }, isOnAir }: { row: RestreamRow; isOnAir: boolean }) {
  const expected = !isEnabled(destination) ? 'disabled' : isOnAir ? 'connecting' : 'idle';
  const { state, since, reason, lastError, retries, rendition } = status ?? { state: expected };
  const chosen = destination.rendition ?? 'source';
  const isOtherRendition = state === 'live' && rendition === 'source' && chosen !== 'source';
  return (
    <span class="two-lines">
      <span class="actions">
        <Badge tone={tones[state]}>{restreamStates[state]}</Badge>
        {since !== undefined && state !== 'disabled' && (
          <span class="hint" title={formatDateTime(since)}>
            for {formatSpan((Date.now() - Date.parse(since)) / 1000)}
          </span>
        )}
      </span>
      {isOtherRendition && <span class="hint">The source is sent, because {chosen} isn’t encoded.</span>}
      {reason !== undefined && (
        <span class="hint" title={lastError}>
          {formatReason(reason)}
        </span>
      )}
      {retries !== undefined && retries > 0 && (
        <span class="hint">Retried {retries === 1 ? 'once' : `${formatNumber(retries)} times`}.</span>
      )}
    </span>
  );
}
