import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isInstalled } from '../support/nginx.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { startServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const rules = fileURLToPath(new URL('../../packaging/monitoring/alerts.yaml', import.meta.url));

async function tempFolder(): Promise<string> {
  const folder = await makeTempDir();
  onTestFinished(() => removeDir(folder));
  return folder;
}

it('a server reports its database, its disk and the end of its certificate', async () => {
  const folder = await tempFolder();
  const { cert, key } = makeSelfSigned('localhost');
  const paths = { 'tls.cert': join(folder, 'cert.pem'), 'tls.key': join(folder, 'key.pem') };
  await writeFile(paths['tls.cert'], cert);
  await writeFile(paths['tls.key'], key);
  await using server = await startServer({ ...paths, 'https.port': '0', 'uploads.minFree': '3GiB' });
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  const gauge = (name: string) =>
    Number(new RegExp(`^millrace_${name}(?:\\{.*\\})? (.*)$`, 'm').exec(text)?.[1]);
  expect(gauge('database_up')).toBe(1);
  expect(gauge('disk_free_bytes')).toBeGreaterThan(0);
  expect(gauge('disk_reserved_bytes')).toBe(3 * 1024 ** 3);
  expect(gauge('certificate_end_seconds')).toBe(Date.parse(new X509Certificate(cert).validTo) / 1_000);
});

interface Series {
  readonly series: string;
  /** Notation of promtool: `start+step x count`. */
  readonly values: string;
}

/** Evaluates the rules after `minutes`. Returns what promtool says of the alerts that fire. */
async function firing(
  series: readonly Series[],
  minutes: number,
  alert: string,
  labels: object,
): Promise<string> {
  const folder = await tempFolder();
  await copyFile(rules, join(folder, 'alerts.yaml'));
  const expected = { eval_time: `${minutes}m`, alertname: alert, exp_alerts: [{ exp_labels: labels }] };
  const input_series = series.map(({ series: name, values }) => ({ series: name, values }));
  const tests = [{ interval: '1m', input_series, alert_rule_test: [expected] }];
  const path = join(folder, 'test.yaml');
  await writeFile(path, JSON.stringify({ rule_files: ['alerts.yaml'], tests }));
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
  return /got:\s*([\s\S]*)/.exec(stdout + stderr)?.[1] ?? stdout + stderr;
}

const gib = 1024 ** 3;
const server = 'instance="a"';

describe.runIf(isInstalled('promtool', '--version'))('the alerts', () => {
  it('are valid', () => {
    const { status, stderr } = spawnSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  });

  it.each<readonly [string, readonly Series[], number]>([
    ['MillraceDown', [{ series: `up{job="millrace",${server}}`, values: '0x30' }], 10],
    ['MillraceDatabaseUnreachable', [{ series: `millrace_database_up{${server}}`, values: '0x30' }], 10],
    [
      'MillraceDiskNearlyFull',
      [
        { series: `millrace_disk_free_bytes{${server}}`, values: `${3 * gib}x30` },
        { series: `millrace_disk_reserved_bytes{${server}}`, values: `${2 * gib}x30` },
      ],
      20,
    ],
    [
      'MillraceDiskFull',
      [
        { series: `millrace_disk_free_bytes{${server}}`, values: `${gib}x30` },
        { series: `millrace_disk_reserved_bytes{${server}}`, values: `${2 * gib}x30` },
      ],
      20,
    ],
    [
      'MillraceRecordingStopped',
      [{ series: `millrace_recordings_stopped_total{${server},reason="disk-full"}`, values: '_x5 1x30' }],
      8,
    ],
    [
      'MillraceRecordingLags',
      [{ series: `millrace_recording_upload_lag_seconds{${server}}`, values: '90x30' }],
      10,
    ],
    [
      'MillraceJobsFailing',
      [{ series: `millrace_jobs_ended_total{${server},kind="encode",outcome="failed"}`, values: '1+1x60' }],
      40,
    ],
    [
      'MillraceJobsWaiting',
      [{ series: `millrace_jobs{${server},lane="encode",state="waiting"}`, values: '80x90' }],
      60,
    ],
    [
      'MillraceCertificateEnds',
      [{ series: `millrace_certificate_end_seconds{${server}}`, values: '500000x90' }],
      80,
    ],
    [
      'MillracePublishersDropped',
      [
        {
          series: `millrace_connections_dropped_total{${server},side="publisher",reason="idle-timeout"}`,
          values: '1+1x30',
        },
      ],
      20,
    ],
    [
      'MillraceQualitiesDropped',
      [
        {
          series: `millrace_live_qualities_dropped_total{${server},quality="720p",reason="slow"}`,
          values: '1x30',
        },
      ],
      5,
    ],
    [
      'MillraceStorageFailing',
      [
        { series: `millrace_storage_requests_total{${server},outcome="ok"}`, values: '0+5x60' },
        { series: `millrace_storage_requests_total{${server},outcome="network"}`, values: '0+1x60' },
      ],
      40,
    ],
    [
      'MillraceWebhooksWaiting',
      [{ series: `millrace_webhook_deliveries_waiting{${server}}`, values: '2000x60' }],
      40,
    ],
  ])('%s fires, and says what to do', async (alert, series, minutes) => {
    const text = await readFile(rules, 'utf8');
    expect(text).toContain(`- alert: ${alert}\n`);
    const got = await firing(series, minutes, alert, { severity: 'never' });
    expect(got).toContain(`alertname="${alert}"`);
    expect(got).toMatch(/description="[^"]{40,}/);
  });

  it('are silent for a server without trouble', async () => {
    const series = [
      { series: `up{job="millrace",${server}}`, values: '1x30' },
      { series: `millrace_database_up{${server}}`, values: '1x30' },
      { series: `millrace_disk_free_bytes{${server}}`, values: `${50 * gib}x30` },
      { series: `millrace_disk_reserved_bytes{${server}}`, values: `${2 * gib}x30` },
      { series: `millrace_certificate_end_seconds{${server}}`, values: '0x30' },
      { series: `millrace_recordings_stopped_total{${server},reason="disk-full"}`, values: '1x30' },
    ];
    for (const [alert = ''] of (await readFile(rules, 'utf8')).matchAll(/(?<=- alert: )\w+/g))
      expect(await firing(series, 25, alert, { severity: 'never' })).not.toContain(`alertname="${alert}"`);
  });
});
