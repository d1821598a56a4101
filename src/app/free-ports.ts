import { createServer } from 'node:net';
import { resolve } from 'node:path';
import type { Config } from '../config/settings.ts';
import type { AppError } from '../shared/errors.ts';
import { listenError } from '../shared/network/listen-error.ts';
import { openUdpSocket } from '../shared/network/udp-socket.ts';
import { isDataFolderLocked } from '../store/data-folder-lock.ts';

interface PortSurvey {
  /** Ports that the settings name. */
  readonly count: number;
  readonly failures: readonly AppError[];
}

/** Opens each port as the server would, and closes it again. */
export async function surveyPorts(config: Config): Promise<PortSurvey> {
  const { host } = config;
  const failures: AppError[] = [];
  let count = 0;
  for (const [name, transport, port] of portsOf(config)) {
    if (port === undefined || port === 0) continue;
    count += 1;
    const what = name.replace('PORT', String(port));
    try {
      await (transport === 'tcp' ? tryTcp(host, port) : tryUdp(host, port));
    } catch (error) {
      failures.push(listenError(what, host, error));
    }
  }
  return { count, failures };
}

/**
 * Refuses before anything is written, so that a start that fails migrates no database. Servers of the same data folder are told
 * of the folder instead.
 * @throws AppError `listen-failed`
 */
export async function expectFreePorts(config: Config): Promise<void> {
  if (isDataFolderLocked(resolve(config.dataDir))) return;
  const [failure] = (await surveyPorts(config)).failures;
  if (failure !== undefined) throw failure;
}

function portsOf(config: Config): (readonly [string, 'tcp' | 'udp', number | undefined])[] {
  const webrtc = config['webrtc.enabled'] ? config['webrtc.port'] : undefined;
  return [
    ['HTTP port PORT', 'tcp', config['http.port']],
    ['HTTPS port PORT', 'tcp', config['https.port']],
    ...(config['node.roles'].includes('ingest')
      ? ([
          ['RTMP port PORT', 'tcp', config['rtmp.port']],
          ['RTMPS port PORT', 'tcp', config['rtmps.port']],
          ['WebRTC port PORT (UDP)', 'udp', webrtc],
          ['WebRTC port PORT (TCP)', 'tcp', webrtc],
          ['SRT port PORT (UDP)', 'udp', config['srt.enabled'] ? config['srt.port'] : undefined],
        ] as const)
      : []),
  ];
}

async function tryTcp(host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer();
  server.once('error', reject);
  server.listen({ host, port }, () => server.close(() => resolve()));
  await promise;
}

async function tryUdp(host: string, port: number): Promise<void> {
  const socket = await openUdpSocket({ host, port, receive: () => {}, failed: () => {} });
  await socket.close();
}
