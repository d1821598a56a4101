import type { ServerState } from '../../api/api-types.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatBytes, formatNumber, formatPercent } from '../../format/size.ts';
import { formatDate, formatSpan } from '../../format/time.ts';
import { Card, DetailList, LearnMore } from '../../ui/page.tsx';
import { Meter } from './meter.tsx';
import { formatQueue } from './queue-text.ts';

const encoderNames: Readonly<Record<ServerState['encoder']['kind'], string>> = {
  software: 'x264 (software)',
  nvenc: 'NVENC (NVIDIA GPU)',
  qsv: 'Quick Sync (Intel GPU)',
  vaapi: 'VAAPI (GPU)',
  videotoolbox: 'VideoToolbox (Apple)',
};

/** Load of the machine and work of the server. */
export function LoadCard({ state }: { state: ServerState }) {
  const { cpu, memory, disk, queue, live, warnings, nodes } = state;
  const has = (...codes: readonly string[]) => warnings.some(({ code }) => codes.includes(code));
  const memoryTaken = memory.machineTotalBytes - memory.machineFreeBytes;
  const diskTaken = disk.totalBytes - disk.freeBytes;
  return (
    <Card title={nodes === undefined ? 'Load' : 'This server'}>
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
        ]}
      />
    </Card>
  );
}

/** Programs and versions that the server works with. */
export function SystemCard({ state }: { state: ServerState }) {
  const { programs, isolation, encoder, codecs, certificate } = state;
  return (
    <Card title="System">
      <DetailList
        rows={[
          [
            'Version',
            <span key="version" class="versions">
              Millrace {state.version}
              {state.newerVersion !== undefined && (
                <LearnMore docs="upgrading">{`${state.newerVersion} is available`}</LearnMore>
              )}
              {programs.map(({ name, path, version }) => (
                <span key={path} title={`${name}: ${path}`}>
                  {name} {version}
                </span>
              ))}
            </span>,
          ],
          ['Uptime', formatSpan((Date.now() - Date.parse(state.startedAt)) / 1_000)],
          [
            'Video encoder',
            <span key="encoder" title={encoder.reason}>
              {encoderNames[encoder.kind]}
            </span>,
          ],
          ['Video codecs', codecs.map(codecName).join(', ')],
          [
            'Media isolation',
            <span key="isolation">{isolation.isActive ? 'On' : `Off: ${isolation.missing}`}</span>,
          ],
          ...certificateRows(certificate),
        ]}
      />
    </Card>
  );
}

function certificateRows(certificate: ServerState['certificate']): [string, string][] {
  if (certificate === undefined) return [];
  const { domains, state, expiresAt } = certificate;
  const states = { missing: 'not issued yet', valid: 'valid until', expired: 'expired on' };
  const date = expiresAt === undefined ? '' : ` ${formatDate(expiresAt)}`;
  return [['Certificate', `${domains.join(', ')}: ${states[state]}${date}`]];
}
