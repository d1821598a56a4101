import { type DescribedMetric, Metrics } from '../src/metrics/metrics.ts';

interface Alert {
  readonly name: string;
  readonly expr: string;
  /** Time that the expression must hold. */
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  /** Instructions for the operator. */
  readonly description: string;
}

const docs = 'See docs/operating.md.';

/** Includes the first event, with which a series begins: `increase` does not. */
const happened = (series: string) =>
  `increase(${series}[10m]) > 0 or (${series} unless ${series} offset 10m) > 0`;

const alerts: readonly Alert[] = [
  {
    name: 'MillraceDown',
    expr: 'up{job=~".*millrace.*"} == 0',
    for: '2m',
    severity: 'critical',
    summary: 'Millrace at {{ $labels.instance }} does not answer.',
    description: `Check that the process runs, then its log. If it runs, check metrics.token and the firewall between Prometheus and the server. ${docs}`,
  },
  {
    name: 'MillraceDatabaseUnreachable',
    expr: 'millrace_database_up == 0',
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.instance }} cannot use its database.',
    description:
      'Check that PostgreSQL runs and has free connections, or that the disk of SQLite is writable and not full. The log says why under not-ready.',
  },
  {
    name: 'MillraceDiskNearlyFull',
    expr: 'millrace_disk_free_bytes < 2 * millrace_disk_reserved_bytes',
    for: '5m',
    severity: 'warning',
    summary: '{{ $labels.instance }} has {{ $value | humanize1024 }}B of free disk space.',
    description:
      'Below uploads.minFree, uploads are refused; below recording.minFree, recordings stop. Delete videos, empty the trash, shorten retention, or enlarge the disk.',
  },
  {
    name: 'MillraceDiskFull',
    expr: 'millrace_disk_free_bytes < millrace_disk_reserved_bytes',
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.instance }} refuses uploads: {{ $value | humanize1024 }}B of disk space are free.',
    description: 'Recordings stop next. Make room now: delete videos permanently, or enlarge the disk.',
  },
  {
    name: 'MillraceRecordingStopped',
    expr: happened('millrace_recordings_stopped_total'),
    for: '0m',
    severity: 'critical',
    summary:
      '{{ $labels.instance }} stopped recordings before their broadcasts ended ({{ $labels.reason }}).',
    description:
      'The broadcast goes on without a recording. Check free disk space and the log around recording-stopped.',
  },
  {
    name: 'MillraceRecordingLags',
    expr: 'millrace_recording_upload_lag_seconds > 60',
    for: '2m',
    severity: 'warning',
    summary: '{{ $value | humanizeDuration }} of a recording on {{ $labels.instance }} are not stored yet.',
    description:
      'If the server were lost now, that part would be lost. Check the S3 server and the bandwidth to it: millrace_storage_requests_total shows failures, millrace_storage_request_duration_seconds how long requests take.',
  },
  {
    name: 'MillraceJobsFailing',
    expr: 'sum by (instance, kind) (increase(millrace_jobs_ended_total{outcome="failed"}[30m])) > 3',
    for: '0m',
    severity: 'warning',
    summary:
      '{{ $value | humanize }} jobs of the kind {{ $labels.kind }} failed on {{ $labels.instance }} in 30 minutes.',
    description:
      'Read the reason of a failed video in the dashboard, and the log of the server. Single broken uploads are normal; many at once mean that ffmpeg, memory, the disk or the storage fails.',
  },
  {
    name: 'MillraceJobsWaiting',
    expr: 'max by (lane) (millrace_jobs{state="waiting"}) > 50',
    for: '30m',
    severity: 'warning',
    summary: '{{ $value | humanize }} jobs wait in the lane {{ $labels.lane }}.',
    description:
      'The machine encodes more slowly than videos arrive. Add a server with the role worker, use a hardware encoder, or raise encode.jobs if cores are idle.',
  },
  {
    name: 'MillraceCertificateEnds',
    expr: 'millrace_certificate_end_seconds > 0 and millrace_certificate_end_seconds - time() < 14 * 86400',
    for: '1h',
    severity: 'warning',
    summary: 'The certificate of {{ $labels.instance }} ends within 14 days.',
    description:
      'Renew it: the server uses changed files at once. If the server orders it itself, the server page of the dashboard and the log say what keeps it from renewing.',
  },
  {
    name: 'MillracePublishersDropped',
    expr: 'sum by (instance, reason) (increase(millrace_connections_dropped_total{side="publisher",reason=~"connection-error|idle-timeout|protocol-error|slow-reader"}[10m])) > 3',
    for: '0m',
    severity: 'warning',
    summary:
      '{{ $labels.instance }} dropped {{ $value | humanize }} publishers in 10 minutes ({{ $labels.reason }}).',
    description:
      'connection-error and idle-timeout mean that the network between encoder and server fails, protocol-error that the encoder sends what is not valid. If all encoders are concerned, look at the processor and the event loop of the server. The log has each connection with its address.',
  },
  {
    name: 'MillraceQualitiesDropped',
    expr: happened('millrace_live_qualities_dropped_total'),
    for: '0m',
    severity: 'warning',
    summary: '{{ $labels.instance }} dropped the live quality {{ $labels.quality }} ({{ $labels.reason }}).',
    description:
      'The machine cannot encode all renditions in real time. Broadcast with fewer qualities, use a hardware encoder, or move jobs to another server.',
  },
  {
    name: 'MillraceStorageFailing',
    expr: 'sum by (instance) (rate(millrace_storage_requests_total{outcome!="ok"}[10m])) > 0.05 * sum by (instance) (rate(millrace_storage_requests_total[10m]))',
    for: '10m',
    severity: 'warning',
    summary: 'More than 5 % of the requests of {{ $labels.instance }} to the S3 storage fail.',
    description:
      'Uploads and recordings wait and are repeated. Check the S3 server, its credentials and free space, and the network to it.',
  },
  {
    name: 'MillraceWebhooksWaiting',
    expr: 'max(millrace_webhook_deliveries_waiting) > 1000',
    for: '15m',
    severity: 'warning',
    summary: '{{ $value | humanize }} webhook deliveries wait.',
    description:
      'An endpoint is down or slow: the webhooks page of the dashboard shows which. Deliveries are repeated until they are given up.',
  },
];

/** Rows of the dashboard, with the beginnings of the names of their metrics. The first that fits counts. */
const rows: readonly (readonly [title: string, beginnings: readonly string[]])[] = [
  ['Server', ['database_', 'disk_', 'certificate_', 'process_', 'event_loop_']],
  ['Publishers and broadcasts', ['broadcast', 'publishers', 'ingest_', 'bytes_in', 'live_', 'connections_']],
  ['Viewers', ['viewers', 'bytes_out', 'media_', 'segment_', 'part_', 'rung_']],
  ['Recordings', ['record']],
  ['Restreams', ['restream']],
  ['Videos', ['job', 'ffmpeg_', 'sweep_']],
  ['API, webhooks and hooks', ['http_', 'webhook', 'hook_', 'feed_']],
  ['S3 storage', ['storage_']],
];

const prefix = 'millrace_';
const panelSize = { w: 8, h: 7 };
const gridWidth = 24;
const datasource = { type: 'prometheus', uid: '$datasource' };
const selector = '{instance=~"$instance"}';

/** @returns contents of `packaging/monitoring` by path @throws Error for a metric that does not exist */
export function monitoringFiles(): Record<string, string> {
  const metrics = new Metrics();
  const described = metrics.describe();
  metrics.stop();
  for (const { name, expr } of alerts) checkNames(name, expr, described);
  return {
    'packaging/monitoring/alerts.yaml': alertRules(),
    'packaging/monitoring/grafana-dashboard.json': `${JSON.stringify(dashboardOf(described), null, 2)}\n`,
  };
}

function checkNames(alert: string, expr: string, described: readonly DescribedMetric[]): void {
  for (const [name] of expr.matchAll(/millrace_\w+/g)) {
    const base = name.replace(/_(?:bucket|sum|count)$/, '');
    if (!described.some(metric => metric.name === name || metric.name === base))
      throw new Error(`${alert}: there is no metric ${name}`);
  }
}

function alertRules(): string {
  const rules = alerts.flatMap(alert => [
    `      - alert: ${alert.name}`,
    `        expr: ${JSON.stringify(alert.expr)}`,
    `        for: ${alert.for}`,
    '        labels:',
    `          severity: ${alert.severity}`,
    '        annotations:',
    `          summary: ${JSON.stringify(alert.summary)}`,
    `          description: ${JSON.stringify(alert.description)}`,
  ]);
  return [
    '# Written from scripts/monitoring.ts by node scripts/write-references.ts; do not edit.',
    'groups:',
    '  - name: millrace',
    '    rules:',
    ...rules,
    '',
  ].join('\n');
}

function dashboardOf(described: readonly DescribedMetric[]): object {
  const rest = new Set(described);
  const panels: object[] = [];
  let y = 0;
  for (const [title, beginnings] of rows) {
    const chosen = [...rest].filter(({ name }) =>
      beginnings.some(beginning => name.slice(prefix.length).startsWith(beginning)),
    );
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: gridWidth, h: 1 },
    });
    y += 1;
    for (const [index, metric] of chosen.entries()) {
      rest.delete(metric);
      const x = (index * panelSize.w) % gridWidth;
      panels.push({ id: panels.length + 1, ...panelOf(metric), gridPos: { x, y, ...panelSize } });
      if (x + panelSize.w === gridWidth || index === chosen.length - 1) y += panelSize.h;
    }
  }
  if (rest.size > 0)
    throw new Error(`no row of the dashboard has ${[...rest].map(({ name }) => name).join(', ')}`);
  return {
    uid: 'millrace',
    title: 'Millrace',
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
        {
          name: 'instance',
          type: 'query',
          label: 'Server',
          datasource,
          query: { query: 'label_values(millrace_process_uptime_seconds, instance)', refId: 'servers' },
          refresh: 2,
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels,
  };
}

function panelOf(metric: DescribedMetric): object {
  const words = metric.name
    .slice(prefix.length)
    .replace(/_(?:total|bytes|seconds)$/, '')
    .replaceAll('_', ' ');
  return {
    type: 'timeseries',
    title: words[0]!.toUpperCase() + words.slice(1),
    description: metric.help,
    datasource,
    fieldConfig: { defaults: { unit: unitOf(metric), min: 0 }, overrides: [] },
    targets: targetsOf(metric),
  };
}

function unitOf({ name, type }: DescribedMetric): string {
  const isRate = type === 'counter';
  if (/bytes(_total)?$|_bytes_|bytes_(in|out)_total$/.test(name)) return isRate ? 'Bps' : 'bytes';
  if (name.endsWith('bits_per_second')) return 'bps';
  if (name.endsWith('_end_seconds')) return 'dateTimeFromNow';
  if (name.endsWith('cpu_seconds_total')) return 'percentunit';
  if (name.endsWith('seconds')) return 's';
  return isRate ? 'cps' : 'short';
}

function targetsOf({ name, type, labels }: DescribedMetric): object[] {
  if (type === 'histogram') {
    return [0.5, 0.99].map((quantile, index) => ({
      refId: 'AB'[index],
      datasource,
      expr: `histogram_quantile(${quantile}, sum by (le) (rate(${name}_bucket${selector}[$__rate_interval])))`,
      legendFormat: `p${quantile * 100}`,
    }));
  }
  const by = labels.length === 0 ? ['instance'] : labels;
  const legendFormat = by.map(label => `{{${label}}}`).join(' ');
  // Times and states have no sum, and servers that share a database all report its queues.
  const sum = /_(?:seconds|up|jobs|waiting)$/.test(name) ? 'max' : 'sum';
  const values = type === 'counter' ? `rate(${name}${selector}[$__rate_interval])` : `${name}${selector}`;
  const expr =
    name === 'millrace_certificate_end_seconds'
      ? `max by (instance) (${values} * 1000 > 0)`
      : `${sum} by (${by.join(', ')}) (${values})`;
  return [{ refId: 'A', datasource, expr, legendFormat }];
}
