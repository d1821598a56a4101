import type { ServerState } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatBytes, formatNumber, formatPercent } from '../../format/size.ts';
import { formatDate, formatSpan } from '../../format/time.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card, DetailList } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { NodesCard } from './nodes-card.tsx';
import { formatQueue } from './queue-text.ts';

const refreshMs = 5_000;

const encoderNames: Readonly<Record<ServerState['encoder']['kind'], string>> = {
  software: 'x264 (software)',
  nvenc: 'NVENC (NVIDIA GPU)',
  qsv: 'Quick Sync (Intel GPU)',
  vaapi: 'VAAPI (GPU)',
  videotoolbox: 'VideoToolbox (Apple)',
};

export function ServerCard() {
  const loaded = useLoad('', signal => call('GET /server', { signal }));
  useInterval(refreshMs, loaded.reload);
  const warnings = loaded.value?.warnings.length ?? 0;
  const nodes = loaded.value?.nodes;
  return (
    <>
      <Card
        title={nodes === undefined ? 'Server' : 'This server'}
        actions={
          loaded.value !== undefined && (
            <>
              {warnings === 0 ? (
                <Badge tone="good">Healthy</Badge>
              ) : (
                <Badge tone="warning">{warnings === 1 ? '1 warning' : `${warnings} warnings`}</Badge>
              )}
              <Button small href="/dashboard/server/settings">
                Settings
              </Button>
            </>
          )
        }
      >
        <LoadedContent loaded={loaded} height={330}>
          {state => <ServerDetails state={state} />}
        </LoadedContent>
      </Card>
      {nodes !== undefined && <NodesCard nodes={nodes} />}
    </>
  );
}

function ServerDetails({ state }: { state: ServerState }) {
  const { cpu, memory, disk, queue, live, programs, isolation, encoder, codecs, certificate, warnings } =
    state;
  const has = (...codes: readonly string[]) => warnings.some(({ code }) => codes.includes(code));
  const memoryTaken = memory.machineTotalBytes - memory.machineFreeBytes;
  const diskTaken = disk.totalBytes - disk.freeBytes;
  return (
    <>
      <div class="meters">
        <Meter
          name="CPU"
          valueText={`${formatPercent(cpu.machinePercent)} of ${cpu.cores} ${cpu.cores === 1 ? 'core' : 'cores'}`}
          percent={cpu.machinePercent}
          isBad={has('cpu-busy')}
        />
        <Meter
          name="Memory"
          valueText={`${formatBytes(memory.machineFreeBytes)} of ${formatBytes(memory.machineTotalBytes)} free`}
          percent={(100 * memoryTaken) / memory.machineTotalBytes}
          isBad={has('memory-low')}
        />
        <Meter
          name="Disk"
          valueText={`${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} free`}
          percent={(100 * diskTaken) / disk.totalBytes}
          isBad={has('disk-full', 'disk-nearly-full')}
        />
      </div>
      <DetailList
        rows={[
          ['Video jobs', formatQueue(queue)],
          ['Live broadcasts', formatNumber(live.broadcasts)],
          ['Viewers', formatNumber(live.viewers)],
          [
            'Video encoder',
            <span key="encoder" title={encoder.reason}>
              {encoderNames[encoder.kind]}
            </span>,
          ],
          [
            'Media isolation',
            <span key="isolation">{isolation.isActive ? 'On' : `Off: ${isolation.missing}`}</span>,
          ],
          ...certificateRows(certificate),
          ['Video codecs', codecs.map(codecName).join(', ')],
          ['Uptime', formatSpan((Date.now() - Date.parse(state.startedAt)) / 1_000)],
          [
            'Versions',
            <span key="versions" class="versions">
              Millrace {state.version}
              {state.newerVersion !== undefined && (
                <a href="/docs/upgrading">{state.newerVersion} is available</a>
              )}
              {programs.map(({ name, path, version }) => (
                <span key={path} title={`${name}: ${path}`}>
                  {name} {version}
                </span>
              ))}
            </span>,
          ],
        ]}
      />
      {warnings.map(({ code, text }) => (
        <Notice key={`${code} ${text}`} tone="warning">
          {text}
        </Notice>
      ))}
    </>
  );
}

function certificateRows(certificate: ServerState['certificate']): [string, string][] {
  if (certificate === undefined) return [];
  const { domains, state, expiresAt } = certificate;
  const states = { missing: 'not issued yet', valid: 'valid until', expired: 'expired on' };
  const date = expiresAt === undefined ? '' : ` ${formatDate(expiresAt)}`;
  return [['Certificate', `${domains.join(', ')}: ${states[state]}${date}`]];
}

function Meter({
  name,
  valueText,
  percent,
  isBad = false,
}: {
  name: string;
  valueText: string;
  percent: number;
  isBad?: boolean;
}) {
  const shown = Math.round(Math.min(100, Math.max(0, percent)));
  return (
    <div class={`meter${isBad ? ' bad' : ''}`}>
      <span>{name}</span>
      <span class="meter-label number">{valueText}</span>
      <meter
        class="for-readers"
        aria-label={name}
        aria-valuetext={valueText}
        min={0}
        max={100}
        value={shown}
      />
      <div class="meter-bar" aria-hidden="true">
        <span style={{ width: `${shown}%` }} />
      </div>
    </div>
  );
}
