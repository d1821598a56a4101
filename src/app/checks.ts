import { X509Certificate } from 'node:crypto';
import type { Config } from '../config/settings.ts';
import type { ViewerCount } from '../delivery/live/viewer-count.ts';
import { listEncoders } from '../ffmpeg/build/find-build.ts';
import type { CheckedCertificate, CheckedServer } from '../operations/checks/server-checks.ts';
import type { HealthOptions } from '../operations/health/health.routes.ts';
import type { ServerCertificate } from './certificates.ts';
import type { Foundation } from './foundation.ts';

/** Settings that the checks compare with what there is. */
export function checkedSettings(
  config: Config,
): Pick<CheckedServer, 'minFreeBytes' | 'maxConnections' | 'codecs' | 'isHardwareWanted'> {
  return {
    minFreeBytes: config['uploads.minFree'],
    maxConnections: { http: config['http.maxConnections'], rtmp: config['rtmp.maxConnections'] },
    codecs: config['encode.codecs'],
    isHardwareWanted: !['auto', 'off'].includes(config['encode.hardware']),
  };
}

function hasOwnUrl(config: Config): boolean {
  return config.publicUrl !== undefined || config['tls.domains'] !== undefined;
}

/** Subjects of the checks of a running server. Settings may change meanwhile. */
export function checkedServer(
  {
    config,
    dataDir,
    clock,
    database,
    storage,
    ffmpeg,
    ffprobe,
    encoders,
    environment,
    urls,
    ...foundation
  }: Foundation,
  health: HealthOptions['checks'],
  viewers: ViewerCount,
): () => CheckedServer {
  const { certificate, missingIsolation } = foundation;
  return () => ({
    ...checkedSettings(config),
    ownUrl: hasOwnUrl(config) ? urls.publicUrl() : undefined,
    defaultUrl: hasOwnUrl(config) ? undefined : urls.publicUrl(),
    dataDir,
    clock,
    database,
    bucket: storage.s3 && (() => storage.s3!.check()),
    faults: async () => {
      const faults = await Promise.all(health.map(async ({ name, fault }) => [name, await fault()] as const));
      return faults.flatMap(([name, fault]) => (fault === undefined ? [] : [`${name}: ${fault}`]));
    },
    programs: async () => ({ ffmpeg, ffprobe }),
    encoders: () => listEncoders(ffmpeg.path, environment.variables),
    hardware: () => encoders.state,
    missingIsolation: async () => missingIsolation,
    latency: () => {
      const { standard, appleWithoutHttp2, ...counts } = viewers.latency();
      return { ...counts, appleWithoutHttp2, standard: standard + appleWithoutHttp2 };
    },
    certificate: certificate && (() => certificateOf(certificate)),
  });
}

function certificateOf({ ordered, source }: ServerCertificate): CheckedCertificate {
  if (ordered !== undefined) {
    const { expiresAtMs, problem } = ordered.view();
    return { expiresAtMs, problem, isRenewed: true };
  }
  const pair = source.secureContext();
  const certificate = pair && new X509Certificate(pair.cert);
  return {
    expiresAtMs: certificate && Date.parse(certificate.validTo),
    isRenewed: false,
    names: certificate && hostNamesOf(certificate),
  };
}

function hostNamesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return [...subjectAltName.matchAll(/DNS:([^,*\s]+)(?:,|$)/g)].map(([, name]) => name!);
}
