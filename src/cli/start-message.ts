import type { RunningApp } from '../app/start-app.ts';
import type { Config } from '../config/settings.ts';
import type { BootstrapSecrets } from '../resources/identity/accounts/bootstrap-account.ts';
import { operatorCommand } from '../shared/installation.ts';
import { withoutPassword } from '../shared/network/postgres-url.ts';

/** Shows addresses, and at the first start the sign-in and API keys, which are never shown again. */
export function describeStart(app: RunningApp, config: Config): string {
  const { hostname } = new URL(app.publicUrl);
  const rtmpPort = app.rtmpPort === 1935 ? '' : `:${app.rtmpPort}`;
  const databaseUrl = config['database.url'];
  const { embeddedReason } = app.ffmpeg;
  const lines = [
    ...['', 'Millrace is running.', ''],
    ...rows([
      ['Dashboard', `${app.publicUrl}/dashboard`],
      ['Documentation', `${app.publicUrl}/docs`],
      ['API', app.publicUrl],
      ...(app.rtmpPort === 0 ? [] : [['RTMP server', `rtmp://${hostname}${rtmpPort}/s`] as const]),
      ...(app.rtmpsPort === undefined
        ? []
        : [['RTMPS server', `rtmps://${hostname}:${app.rtmpsPort}/s`] as const]),
      ...(app.srtPort === undefined
        ? []
        : [['SRT server', `srt://${hostname}:${app.srtPort} (UDP)`] as const]),
      ...(app.webrtcPort === undefined
        ? []
        : [
            ['WHIP server', `${app.publicUrl}/whip (WebRTC on port ${app.webrtcPort}, UDP and TCP)`] as const,
          ]),
      ['Data folder', app.dataDir],
      ...(databaseUrl === undefined
        ? []
        : [['Database', `PostgreSQL, ${withoutPassword(databaseUrl.reveal())}`] as const]),
      ['ffmpeg', `${app.ffmpeg.version} (${app.ffmpeg.path})`],
      [
        'Media isolation',
        app.missingIsolation === undefined ? 'on (bubblewrap)' : `off: ${app.missingIsolation}`,
      ],
    ]),
  ];
  if (app.lacksCertificate) {
    lines.push(
      '',
      'HTTPS starts when the certificate is issued, usually within a minute. If it is not, the log says why,',
      `and the dashboard is at http://${hostname}:${app.httpPort}/dashboard.`,
    );
  }
  if (embeddedReason !== undefined) {
    lines.push(
      '',
      `The embedded ffmpeg, which gets no security updates, is in use: ${embeddedReason}.`,
      'Install the ffmpeg of your distribution, version 5.1 or newer.',
    );
  }
  if (app.ffmpeg.isOutdated)
    lines.push('', 'This ffmpeg is too old to decode untrusted media safely. Install version 6.1 or newer.');
  if (app.firstSecrets !== undefined) lines.push(...firstSteps(app.publicUrl, app.firstSecrets, config));
  return `${lines.join('\n')}\n\n`;
}

function firstSteps(publicUrl: string, secrets: BootstrapSecrets, config: Config): string[] {
  const isUpgraded = config['bootstrap.upgraded'];
  const secretsFile = config['bootstrap.secretsFile'];
  const { adminEmail: email, adminPassword, productionKey, sandboxKey } = secrets;
  const firstKey = isUpgraded ? productionKey : sandboxKey;
  const shown =
    secretsFile === undefined
      ? [
          'Your sign-in and API keys. Save them now: they are shown only this once.',
          '',
          ...rows([
            ['Email', email],
            ['Password', adminPassword.reveal()],
            [
              'Production API key',
              `${productionKey.reveal()}${isUpgraded ? '' : '   (works after an upgrade)'}`,
            ],
            ['Sandbox API key', sandboxKey.reveal()],
          ]),
        ]
      : [
          `Your sign-in and API keys are in ${secretsFile}.`,
          'The server keeps only hashes of them: save them elsewhere, then delete the file.',
        ];
  const environment = isUpgraded
    ? [
        'The sandbox key is for tests: videos made with it are short, carry a watermark and are deleted after 24 hours.',
      ]
    : [
        "You're in the sandbox: videos are short, carry a watermark and are deleted after 24 hours.",
        `To use production, upgrade in the dashboard under Account, or run: ${operatorCommand('account', `upgrade ${email}`)}`,
      ];
  return [
    ...['', ...shown, ''],
    'Open the dashboard and sign in. It takes you to your first live stream and your first video.',
    ...(secretsFile === undefined
      ? [`To call the API: curl -u ${firstKey.reveal()}: ${publicUrl}/videos`]
      : [
          `To call the API, use its "${isUpgraded ? 'productionKey' : 'sandboxKey'}": curl -u KEY: ${publicUrl}/videos`,
        ]),
    ...environment,
  ];
}

function rows(pairs: readonly (readonly [string, string])[]): string[] {
  return pairs.map(([name, value]) => `  ${name.padEnd(20)}${value}`);
}
