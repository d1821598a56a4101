import type { ServerState } from '../../api/api-types.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatBytes, formatNumber, formatPercent } from '../../format/size.ts';
import { formatDate, formatSpan } from '../../format/time.ts';
import { locale } from '../../state/texts.ts';
import { t } from '../../texts/server.ts';
import { Card, DetailList, LearnMore } from '../../ui/page.tsx';
import { Meter } from './meter.tsx';
import { formatQueue } from './queue-text.ts';

const encoderNames = {
  nvenc: 'NVENC (NVIDIA GPU)',
  qsv: 'Quick Sync (Intel GPU)',
  vaapi: 'VAAPI (GPU)',
  videotoolbox: 'VideoToolbox (Apple)',
} as const;

/** Load of the machine and work of the server. */
export function LoadCard({ state }: { state: ServerState }) {
  const { cpu, memory, disk, queue, live, warnings, nodes } = state;
  const has = (...codes: readonly string[]) => warnings.some(({ code }) => codes.includes(code));
  const memoryTaken = memory.machineTotalBytes - memory.machineFreeBytes;
  const diskTaken = disk.totalBytes - disk.freeBytes;
  return (
    <Card title={t(nodes === undefined ? 'load.title' : 'nodes.thisServer')}>
      <div class="meters">
        <Meter
          name="CPU"
          valueText={t('load.cpu', { share: formatPercent(cpu.machinePercent), count: cpu.cores })}
          percent={cpu.machinePercent}
          isBad={has('cpu-busy')}
        />
        <Meter
          name={t('load.memory')}
          valueText={t('load.free', {
            free: formatBytes(memory.machineFreeBytes),
            total: formatBytes(memory.machineTotalBytes),
          })}
          percent={(100 * memoryTaken) / memory.machineTotalBytes}
          isBad={has('memory-low')}
        />
        <Meter
          name={t('load.disk')}
          valueText={t('load.free', {
            free: formatBytes(disk.freeBytes),
            total: formatBytes(disk.totalBytes),
          })}
          percent={(100 * diskTaken) / disk.totalBytes}
          isBad={has('disk-full', 'disk-nearly-full')}
        />
      </div>
      <DetailList
        rows={[
          [t('load.jobs'), formatQueue(queue)],
          [t('load.broadcasts'), formatNumber(live.broadcasts)],
          [t('load.viewers'), formatNumber(live.viewers)],
        ]}
      />
    </Card>
  );
}

/** Programs and versions that the server works with. */
export function SystemCard({ state }: { state: ServerState }) {
  const { programs, isolation, encoder, codecs, certificate } = state;
  return (
    <Card title={t('system.title')}>
      <DetailList
        rows={[
          [
            t('system.version'),
            <span key="version" class="versions">
              Millrace {state.version}
              {state.newerVersion !== undefined && (
                <LearnMore docs="upgrading">{t('system.newer', { version: state.newerVersion })}</LearnMore>
              )}
              {programs.map(({ name, path, version }) => (
                <span key={path} title={`${name}: ${path}`}>
                  {name} {version}
                </span>
              ))}
            </span>,
          ],
          [t('system.uptime'), formatSpan((Date.now() - Date.parse(state.startedAt)) / 1_000)],
          [
            t('system.encoder'),
            <span key="encoder" title={encoder.reason}>
              {encoder.kind === 'software' ? t('system.software') : encoderNames[encoder.kind]}
            </span>,
          ],
          [t('system.codecs'), new Intl.ListFormat(locale(), { type: 'unit' }).format(codecs.map(codecName))],
          [
            t('system.isolation'),
            <span key="isolation">
              {isolation.isActive
                ? t('system.isolated')
                : t('system.notIsolated', { reason: isolation.missing ?? '' })}
            </span>,
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
  const date = expiresAt === undefined ? '' : formatDate(expiresAt);
  return [[t('system.certificate'), t(`system.certificate.${state}`, { domains: domains.join(', '), date })]];
}
