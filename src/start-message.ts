import type { RunningApp } from './app.ts';
import type { Config } from './config/settings.ts';
import type { Secret } from './shared/secret.ts';

/**
 * What the operator reads once the server runs: addresses, and at the very first start where to sign in, what to type into OBS, and
 * the secrets that are never shown again.
 */
export function describeStart(app: RunningApp, config: Config): string {
  const host = new URL(app.publicUrl).hostname;
  const rtmpPort = app.rtmpPort === 1935 ? '' : `:${app.rtmpPort}`;
  const addresses: [string, string][] = [
    ['Dashboard', `${app.publicUrl}/dashboard`],
    ['API', app.publicUrl],
    ['Documentation', `${app.publicUrl}/docs`],
    ['RTMP server', `rtmp://${host}${rtmpPort}/s`],
  ];
  if (app.rtmpsPort !== undefined) addresses.push(['RTMPS server', `rtmps://${host}:${app.rtmpsPort}/s`]);
  addresses.push(['Data', app.dataDir], ['ffmpeg', `${app.ffmpeg.version} (${app.ffmpeg.path})`]);

  const lines = ['', 'Millrace is running.', '', ...rows(addresses)];
  const secrets = app.firstSecrets;
  if (secrets !== undefined) {
    const upgraded = config['bootstrap.upgraded'];
    const secretsFile = config['bootstrap.secretsFile'];
    const shown = (secret: Secret, name: string) =>
      secretsFile === undefined ? secret.reveal() : `"${name}" in the file`;
    const key =
      secretsFile === undefined
        ? (upgraded ? secrets.productionKey : secrets.sandboxKey).reveal()
        : `"$(jq -r .${upgraded ? 'productionKey' : 'sandboxKey'} ${secretsFile})"`;
    lines.push(
      '',
      secretsFile === undefined
        ? 'First start: these are shown once and kept only as hashes. Write them down.'
        : `First start: the API keys and the password are in ${secretsFile}. The server keeps only their hashes: store them elsewhere, then delete the file.`,
      '',
      'To sign in to the dashboard:',
      '',
      ...rows([
        ['Address', `${app.publicUrl}/dashboard`],
        ['Sign-in', secrets.adminEmail],
        ['Password', shown(secrets.adminPassword, 'adminPassword')],
      ]),
      '',
      'For programs:',
      '',
      ...rows([
        ['Sandbox API key', shown(secrets.sandboxKey, 'sandboxKey')],
        [
          'Production API key',
          shown(secrets.productionKey, 'productionKey') +
            (upgraded ? '' : '   (works once the account is upgraded)'),
        ],
      ]),
      '',
      'In the sandbox all pictures carry a watermark, streams end after 30 minutes, and videos have 30 seconds and are deleted after 24 hours.',
      ...(upgraded
        ? ['Production has no such limits.']
        : [
            `Production has no such limits: upgrade in the dashboard under Account, or with npm run account -- upgrade ${secrets.adminEmail}`,
          ]),
      '',
      'The dashboard does the rest. Without it, to go live, make a stream:',
      '',
      `  curl -u ${key}: -H 'Content-Type: application/json' -d '{"name":"My first stream"}' ${app.publicUrl}/live-streams`,
      '',
      'In OBS, under Settings > Stream, choose Service "Custom..." and type:',
      '',
      ...rows([
        ['Server', `rtmp://${host}${rtmpPort}/s`],
        ['Stream Key', 'the "streamKey" of the answer'],
      ]),
      '',
      'Then press "Start Streaming" and open the address in "assets.player" of the answer.',
      'A keyframe interval of 2 s (Settings > Output) starts viewers fastest.',
      '',
      'To show a video, make one, and send its file to the "videoId" of the answer:',
      '',
      `  curl -u ${key}: -H 'Content-Type: application/json' -d '{"title":"My first video"}' ${app.publicUrl}/videos`,
      `  curl -u ${key}: -F file=@film.mp4 ${app.publicUrl}/videos/VIDEO_ID/source`,
      '',
      'Then open its "assets.player".',
      '',
      'Further accounts, lost keys and passwords: npm run account -- --help',
    );
  }
  return `${lines.join('\n')}\n\n`;
}

function rows(pairs: readonly (readonly [string, string])[]): string[] {
  return pairs.map(([name, value]) => `  ${name.padEnd(20)}${value}`);
}
