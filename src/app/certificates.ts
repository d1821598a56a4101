import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AcmeStore } from '../certificates/acme.store.ts';
import { CertificateOrders } from '../certificates/certificate-orders.ts';
import { type CertificateView, describeCertificate } from '../certificates/describe-certificate.ts';
import { SharedCertificate } from '../certificates/shared-certificate.ts';
import type { ClusterMembership } from '../cluster/membership.ts';
import type { Config } from '../config/settings.ts';
import { CertificateFiles } from '../http/listener/certificate-files.ts';
import type { CertificateSource } from '../http/listener/certificate-source.ts';
import type { HttpListener } from '../http/listener/http-listener.ts';
import type { Clock } from '../shared/clock.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import type { ResolveHost } from '../shared/network/target-address.ts';
import type { RetrySchedule } from '../shared/scheduling/retry-schedule.ts';
import type { Database } from '../store/database.ts';

/** Signals take milliseconds. */
const signalTimeMs = 1_000;

/** A certificate of {@link Config} `tls.domains`. */
interface OrderedCertificate {
  readonly domains: readonly string[];
  keyAuthorization(token: string): Promise<string | undefined>;
  /** False for a domain that the settings have got since the certificate was issued. */
  isFor(domain: string): boolean;
  view(): CertificateView;
  /** Orders once the listeners run. */
  createOrders(listener: Pick<HttpListener, 'httpPort' | 'httpsPort'>): Component;
}

export interface ServerCertificate {
  readonly source: CertificateSource;
  readonly component: Component;
  readonly ordered?: OrderedCertificate;
}

/** Returns undefined where the settings ask for no certificate. */
export function openCertificate(
  config: Config,
  parts: {
    readonly database: Database;
    readonly nodes: ClusterMembership;
    readonly resolveHost: ResolveHost;
    readonly retries: RetrySchedule | undefined;
    readonly clock: Clock;
    readonly log: Logger;
  },
): ServerCertificate | undefined {
  const log = parts.log.child('tls');
  const { 'tls.cert': certPath, 'tls.key': keyPath, 'tls.domains': domains } = config;
  if (domains !== undefined) return orderedCertificate(config, domains, { ...parts, log });
  if (certPath === undefined || keyPath === undefined) return undefined;
  const files = new CertificateFiles({ certPath, keyPath, log });
  return { source: files, component: files };
}

function orderedCertificate(
  config: Config,
  domains: readonly string[],
  { database, nodes, resolveHost, retries, clock, log }: Parameters<typeof openCertificate>[1],
): ServerCertificate {
  const {
    'tls.acmeDirectory': directory,
    'tls.email': email,
    'tls.acmeCa': caFile,
    'tls.acmeKeyId': keyId,
    'tls.acmeMacKey': macKey,
  } = config;
  const externalAccount = keyId === undefined || macKey === undefined ? undefined : { keyId, macKey };
  const store = new AcmeStore(database, directory);
  const certificate = new SharedCertificate({ store, isShared: database.dialect === 'postgres', log });
  const createOrders: OrderedCertificate['createOrders'] = listener =>
    new CertificateOrders({
      settings: { domains, directory, email, caFile, externalAccount },
      store,
      certificate,
      leaderLease: nodes.leaderLease('certificate'),
      network: {
        httpPort: () => listener.httpPort,
        httpsPort: () => listener.httpsPort,
        addressesOf: async domain => (await resolveHost(domain)).map(({ address }) => address),
        ownAddresses,
        challengesShared: async signal => {
          if (!(await nodes.isAlone())) await sleep(signalTimeMs, undefined, { signal });
        },
      },
      retries,
      clock,
      log,
    });
  return {
    component: certificate,
    source: {
      secureContext: () => certificate.secureContext(),
      onChange: changed => certificate.onChange(changed),
      challenges: {
        get placeholder() {
          return certificate.placeholder;
        },
        find: domain => certificate.challengeContext(domain),
      },
    },
    ordered: {
      domains,
      keyAuthorization: token => certificate.keyAuthorization(token),
      isFor: domain => certificate.isFor(domain),
      view: () =>
        describeCertificate(certificate.records, certificate.times, { domains, nowMs: clock.nowMs() }),
      createOrders,
    },
  };
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
}
