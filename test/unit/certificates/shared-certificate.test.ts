import { expect, onTestFinished, test } from 'vitest';
import type { AcmeOrder, AcmeRecords, AcmeStore } from '../../../src/certificates/acme.store.ts';
import { describeCertificate } from '../../../src/certificates/describe-certificate.ts';
import { SharedCertificate } from '../../../src/certificates/shared-certificate.ts';
import { recordingLogger } from '../../support/ingest-client.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

const directory = 'https://authority.example/dir';
const domains = ['a.example'];

async function startWith(records: AcmeRecords) {
  const current = { records };
  const store: Pick<AcmeStore, 'read' | 'onChange'> = {
    read: async () => current.records,
    onChange: () => () => {},
  };
  const certificate = new SharedCertificate({
    store: store as AcmeStore,
    isShared: true,
    log: recordingLogger([]),
  });
  await certificate.start();
  onTestFinished(() => certificate.stop());
  return { certificate, current };
}

function orderWith(keyAuthorization: string): AcmeOrder {
  return {
    directory,
    domains,
    url: `${directory}/1`,
    key: '',
    challengeType: 'tls-alpn-01',
    challenges: [{ type: 'tls-alpn-01', token: 't', domain: 'a.example', keyAuthorization }],
  };
}

test('an answer to a challenge is made once, whatever strangers ask for', async () => {
  const { certificate, current } = await startWith({ order: orderWith('t.one') });
  const first = certificate.challengeContext('a.example');
  expect(first).toBeDefined();
  expect(await certificate.keyAuthorization('unknown')).toBeUndefined();
  expect(certificate.challengeContext('A.example')).toBe(first);
  current.records = { order: orderWith('t.two') };
  await certificate.refresh();
  expect(certificate.challengeContext('a.example')).not.toBe(first);
});

test('a certificate is not for a domain that the settings have got since', async () => {
  const records = {
    certificate: { directory, domains, ...makeSelfSigned('a.example'), challengeType: 'http-01' as const },
    failure: {
      settings: '',
      attempts: 1,
      challengeAttempts: 1,
      failedAtMs: 0,
      retryAtMs: 0,
      askedUntilMs: 0,
      earlyAttempts: 0,
      addresses: '',
      problem: 'It said no.',
    },
  };
  const { certificate } = await startWith(records);
  expect([certificate.isFor('a.example'), certificate.isFor('new.example')]).toEqual([true, false]);
  const view = describeCertificate(certificate.records, certificate.times, {
    domains: ['a.example', 'new.example'],
    nowMs: Date.now(),
  });
  expect(view.problem).toContain(', but not for new.example, where only HTTP works. It said no.');
});
