import { expect, onTestFinished, test } from 'vitest';
import type { AcmeFailure, AcmeRecords, AcmeStore } from '../../../src/certificates/acme.store.ts';
import { CertificateOrders } from '../../../src/certificates/certificate-orders.ts';
import { SharedCertificate } from '../../../src/certificates/shared-certificate.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import { recordingLogger } from '../../support/ingest-client.ts';
import { waitUntil } from '../../support/wait-until.ts';

const dayMs = 86_400_000;

test('a failure at a time that is still to come, by a clock that was wrong, does not put the next attempt off', async () => {
  const settings = {
    domains: ['a.example'],
    directory: 'https://127.0.0.1:1/dir',
    email: undefined,
    caFile: undefined,
  };
  const failure: AcmeFailure = {
    settings: JSON.stringify([settings.directory, settings.domains, settings.email]),
    attempts: 3,
    challengeAttempts: 0,
    failedAtMs: Date.now() + 365 * dayMs,
    retryAtMs: Date.now() + 366 * dayMs,
    askedUntilMs: 0,
    earlyAttempts: 0,
    addresses: '',
    problem: '',
  };
  let records: AcmeRecords = { failure };
  const stored: Pick<AcmeStore, 'read' | 'write' | 'onChange'> = {
    read: async () => records,
    write: async changes => {
      records = { ...records, ...changes };
    },
    onChange: () => () => {},
  };
  const store = stored as AcmeStore;
  const log = recordingLogger([]);
  const certificate = new SharedCertificate({ store, isShared: false, log });
  const orders = new CertificateOrders({
    settings,
    store,
    certificate,
    leaderLease: { on: ({ take }) => take() },
    network: {
      httpPort: () => 80,
      httpsPort: () => undefined,
      addressesOf: async () => [],
      ownAddresses: () => [],
      challengesShared: async () => {},
    },
    clock: systemClock,
    log,
  });
  await orders.start();
  onTestFinished(() => orders.stop());
  await waitUntil(() => records.failure?.attempts === 4);
  expect(records.failure?.problem).toContain('cannot be reached');
  expect(records.failure?.retryAtMs).toBeLessThan(Date.now() + dayMs);
});
