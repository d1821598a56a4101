import { useRef, useState } from 'preact/hooks';
import { maxRestreams } from '../../../../../shared/limits/resource-limits.ts';
import type { LiveStream, Restream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { ApiProblem } from '../../../api/problem.ts';
import type { StreamState } from '../../../broadcasts/stream-state.ts';
import { formatBitrate, formatNumber } from '../../../format/size.ts';
import { formatDateTime, formatSpan } from '../../../format/time.ts';
import { can, environment } from '../../../state/session.ts';
import { t } from '../../../texts/live.ts';
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
  formatRendition,
  isEnabled,
  type RestreamRow,
  restreamRows,
} from './restream-labels.ts';
import { formatReason } from './restream-reason.ts';
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
        title: t('restreams.changedTitle'),
        detail: t('restreams.changedText'),
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
      {t('restreams.add')}
    </Button>
  );
  return (
    <Card title={t('restreams.title')} flush actions={restreams.length > 0 && add}>
      {loaded.problem !== undefined && <LoadError problem={loaded.problem} retry={loaded.reload} />}
      {rows.length === 0 ? (
        <EmptyState icon="send" title={t('restreams.emptyTitle')} action={add}>
          {t('restreams.emptyText')}
          {canEdit && ` ${t('restreams.emptyEdit')}`}
        </EmptyState>
      ) : (
        <Table
          caption={t('restreams.destinations')}
          columns={columns}
          rows={rows}
          keyOf={({ destination }) => `${restreams.indexOf(destination)}`}
        />
      )}
      {rows.length > 0 && (
        <p class="hint card-note">
          {isFull && `${t('restreams.full')} `}
          {canEdit && `${t('restreams.immediate')} `}
          {t('restreams.keysHidden')}
        </p>
      )}
      {environment.value === 'sandbox' && <Notice>{t('restreams.sandbox')}</Notice>}
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
          title={t('restreams.removeTitle')}
          action={t('restreams.remove')}
          work={() => replace(openDialog.row.destination, [])}
          onClose={close}
        >
          {openDialog.row.status?.state === 'live' && <LiveNow name={openDialog.row.destination.name} />}
          <p>{t('restreams.removeText', { name: openDialog.row.destination.name })}</p>
        </ConfirmDialog>
      )}
      {openDialog?.what === 'disable' && (
        <ConfirmDialog
          title={t('restreams.offTitle')}
          action={t('restreams.turnOff')}
          work={() => setEnabled(openDialog.row.destination, false)}
          onClose={close}
        >
          <LiveNow name={openDialog.row.destination.name} />
          <p>{t('restreams.offText')}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

function LiveNow({ name }: { name: string }) {
  return <p>{t('restreams.liveNow', { name })}</p>;
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
      head: t('restreams.destination'),
      cell: ({ destination: { name, rendition = 'source' }, serverUrl }) => (
        <span class="two-lines">
          <strong>{name}</strong>
          <span class="hint">{serverUrl}</span>
          {rendition !== 'source' && (
            <span class="hint">{t('restreams.renditionOf', { name: formatRendition(rendition) })}</span>
          )}
        </span>
      ),
    },
    { head: t('restreams.stateHead'), cell: row => <RestreamState row={row} isOnAir={isOnAir} /> },
    {
      head: t('live.bitrate'),
      isNumber: true,
      cell: ({ status }) =>
        status?.state === 'live' && status.bitrateBitsPerSecond !== undefined
          ? formatBitrate(status.bitrateBitsPerSecond)
          : '–',
    },
    {
      head: t('restreams.droppedFrames'),
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
      head: t('restreams.on'),
      cell: row => (
        <Switch
          label={t('restreams.sendTo', { name: row.destination.name })}
          checked={isEnabled(row.destination)}
          busy={row.destination === switched}
          onClick={() => toggle(row)}
        />
      ),
    },
    {
      head: t('streams.actions'),
      isActions: true,
      cell: row => (
        <Menu
          label={t('streams.actionsFor', { name: row.destination.name })}
          items={[
            { label: t('restreams.edit'), icon: 'edit', onClick: () => openDialog('edit', row) },
            {
              label: t('audio.remove'),
              icon: 'trash',
              danger: true,
              onClick: () => openDialog('remove', row),
            },
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
        <Badge tone={tones[state]}>{t(`restreams.state.${state}`)}</Badge>
        {since !== undefined && state !== 'disabled' && (
          <span class="hint" title={formatDateTime(since)}>
            {t('restreams.for', { time: formatSpan((Date.now() - Date.parse(since)) / 1000) })}
          </span>
        )}
      </span>
      {isOtherRendition && <span class="hint">{t('restreams.otherRendition', { rendition: chosen })}</span>}
      {reason !== undefined && (
        <span class="hint" title={lastError}>
          {formatReason(reason)}
        </span>
      )}
      {retries !== undefined && retries > 0 && (
        <span class="hint">{t('restreams.retried', { count: retries })}</span>
      )}
    </span>
  );
}
