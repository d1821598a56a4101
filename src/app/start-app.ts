import type { RunningSettings } from '../config/running-settings.ts';
import type { FfmpegBuild } from '../ffmpeg/build/find-ffmpeg.ts';
import type { EncoderSelector } from '../ffmpeg/hardware/encoder-selector.ts';
import type { BootstrapSecrets } from '../resources/identity/accounts/bootstrap-account.ts';
import { messageOf } from '../shared/errors.ts';
import { createServer, type Server } from './create-server.ts';
import { type AppEnvironment, closeFoundation, type Foundation, openFoundation } from './foundation.ts';

export interface RunningApp {
  readonly publicUrl: string;
  readonly httpPort: number;
  readonly httpsPort: number | undefined;
  /** 0 without the role `ingest`. */
  readonly rtmpPort: number;
  readonly rtmpsPort: number | undefined;
  /** Undefined without the role `ingest`, and where WebRTC is turned off. */
  readonly webrtcPort: number | undefined;
  /** UDP. Undefined when SRT is off, and without the role `ingest`. */
  readonly srtPort: number | undefined;
  readonly dataDir: string;
  readonly ffmpeg: FfmpegBuild;
  readonly missingIsolation: Foundation['missingIsolation'];
  readonly encoders: Pick<EncoderSelector, 'state'>;
  /** True when HTTPS waits for the first certificate. */
  readonly lacksCertificate: boolean;
  /** Secrets of the first start on a data folder; shown once. */
  readonly firstSecrets: BootstrapSecrets | undefined;
  readonly ffmpegProcesses: () => number;
  /** Takes no new publishers and jobs, and moves broadcasts to other servers. Viewers and the API are still answered. */
  empty(): Promise<void>;
  /** Refuses new work and ends the old until `deadlineMs` (Unix time) or until `signal` aborts. */
  drain(deadlineMs: number, signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @throws AppError `data-dir-unusable`, `database-unusable`, `ffmpeg-unusable`, `isolation-unusable`, `tls-unusable`,
 * `listen-failed`
 */
export async function startApp(settings: RunningSettings, environment: AppEnvironment): Promise<RunningApp> {
  const foundation = await openFoundation(settings, environment);
  try {
    const server = await createServer(foundation);
    await server.lifecycle.start();
    server.state.phase = 'running';
    return runningApp(foundation, server);
  } catch (error) {
    await closeFoundation(foundation);
    throw error;
  }
}

function runningApp(
  { config, urls, nodes, dataDir, ffmpeg, missingIsolation, encoders, certificate, log }: Foundation,
  server: Server,
): RunningApp {
  const { state, http, rtmp, srt, webRtc, owners, lifecycle } = server;
  const isIngest = config['node.roles'].includes('ingest');
  return {
    publicUrl: urls.publicUrl(),
    httpPort: http.httpPort,
    httpsPort: http.httpsPort,
    rtmpPort: isIngest ? rtmp.rtmpPort : 0,
    rtmpsPort: isIngest ? rtmp.rtmpsPort : undefined,
    webrtcPort: webRtc?.port,
    srtPort: srt?.port,
    dataDir,
    ffmpeg,
    missingIsolation,
    encoders,
    lacksCertificate: certificate !== undefined && certificate.source.secureContext() === undefined,
    firstSecrets: state.firstSecrets,
    ffmpegProcesses: () => owners.reduce((sum, owner) => sum + owner.running, 0),
    empty: async () => {
      await nodes.beginDrain();
      await server.empty();
    },
    drain: (deadlineMs, signal) => {
      state.phase = 'stopping';
      nodes
        .beginDrain()
        .catch((error: unknown) => log.warn('drain-not-announced', { error: messageOf(error) }));
      return lifecycle.drain(deadlineMs, signal);
    },
    stop: () => {
      state.phase = 'stopping';
      return lifecycle.stop();
    },
  };
}
