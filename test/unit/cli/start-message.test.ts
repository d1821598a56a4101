import { describe, expect, test } from 'vitest';
import type { RunningApp } from '../../../src/app/start-app.ts';
import { describeStart } from '../../../src/cli/start-message.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { SettingKey } from '../../../src/config/settings.ts';
import { Secret } from '../../../src/shared/secret.ts';

const app = {
  publicUrl: 'http://localhost:8080',
  rtmpPort: 1935,
  rtmpsPort: undefined,
  dataDir: '/data',
  ffmpeg: { version: '7.1', path: '/usr/bin/ffmpeg' },
  firstSecrets: {
    sandboxKey: new Secret('the-sandbox-key'),
    productionKey: new Secret('the-production-key'),
    adminEmail: 'admin@localhost',
    adminPassword: new Secret('a password'),
  },
} as unknown as RunningApp;
const messageWith = (flags: Partial<Record<SettingKey, string>> = {}, started = app) =>
  describeStart(started, loadConfig({ env: {}, flags }));

describe('the first start', () => {
  test('shows how to sign in, and a call with the production key', () => {
    const text = messageWith();
    expect(text).toMatch(/^ +Dashboard +http:\/\/localhost:8080\/dashboard$/m);
    expect(text).toMatch(
      /^ +Email +admin@localhost\n +Password +a password\n +Production API key +the-production-key\n +Sandbox API key +the-sandbox-key$/m,
    );
    expect(text).toContain('curl -u the-production-key: http://localhost:8080/videos\n');
    expect(text).not.toMatch(/upgrade|You're in the sandbox/);
  });

  test('of an account that is not upgraded says that it is in the sandbox, how to leave it, and calls with its key', () => {
    const text = messageWith({ 'bootstrap.upgraded': 'false' });
    expect(text).toMatch(/^ +Production API key +the-production-key +\(works after an upgrade\)$/m);
    expect(text).toContain("You're in the sandbox: ");
    expect(text).toContain('npm run account -- upgrade admin@localhost\n');
    expect(text).toContain('curl -u the-sandbox-key: http://localhost:8080/videos\n');
  });

  test.each([
    ['true', 'productionKey'],
    ['false', 'sandboxKey'],
  ])('with a file of secrets names the file and shows no secret (upgraded: %s)', (isUpgraded, key) => {
    const text = messageWith({
      'bootstrap.secretsFile': '/data/secrets.json',
      'bootstrap.upgraded': isUpgraded,
    });
    expect(text).toContain('are in /data/secrets.json.\n');
    expect(text).toContain(`use its "${key}": curl -u KEY: `);
    expect(text).not.toMatch(/the-sandbox-key|the-production-key|a password/);
  });
});

test('says whether media is isolated, and if not, why', () => {
  expect(messageWith()).toMatch(/^ +Media isolation +on \(bubblewrap\)$/m);
  const text = messageWith({}, { ...app, missingIsolation: 'bubblewrap is not installed' });
  expect(text).toMatch(/^ +Media isolation +off: bubblewrap is not installed$/m);
});

test('warns of an ffmpeg that is too old', () => {
  expect(messageWith()).not.toContain('too old');
  const ffmpeg = { ...app.ffmpeg, isOutdated: true };
  expect(messageWith({}, { ...app, ffmpeg })).toContain('This ffmpeg is too old');
});

test('says why the embedded ffmpeg is used', () => {
  expect(messageWith()).not.toContain('embedded');
  const embeddedReason = 'no ffmpeg is installed';
  const ffmpeg = { ...app.ffmpeg, embeddedReason };
  expect(messageWith({}, { ...app, ffmpeg })).toContain(
    'The embedded ffmpeg, which gets no security updates, is in use: no ffmpeg is installed.\n',
  );
});

test('a later start says where the dashboard is, and shows no keys', () => {
  const text = messageWith({}, { ...app, firstSecrets: undefined });
  expect(text).toMatch(/^ +Dashboard +http:\/\/localhost:8080\/dashboard$/m);
  expect(text).not.toMatch(/key|sandbox|password/i);
});

test('tells where the dashboard is until the first certificate is issued', () => {
  const text = messageWith({}, { ...app, lacksCertificate: true });
  expect(text).toContain('HTTPS starts when the certificate is issued');
  expect(text).toContain(`:${app.httpPort}/dashboard.`);
  expect(messageWith({}, app)).not.toContain('certificate');
});
