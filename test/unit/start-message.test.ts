import { describe, expect, test } from 'vitest';
import type { RunningApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { Secret } from '../../src/shared/secret.ts';
import { describeStart } from '../../src/start-message.ts';

const app = {
  ...{ publicUrl: 'http://localhost:8080', rtmpPort: 1935, rtmpsPort: undefined, dataDir: '/data' },
  ffmpeg: { version: '7.1', path: '/usr/bin/ffmpeg' },
  firstSecrets: {
    sandboxKey: new Secret('the-sandbox-key'),
    productionKey: new Secret('the-production-key'),
    adminEmail: 'admin@localhost',
    adminPassword: new Secret('a password'),
  },
} as unknown as RunningApp;
const said = (isUpgraded: boolean, first = app) =>
  describeStart(first, loadConfig({ env: {}, flags: { 'bootstrap.upgraded': String(isUpgraded) } }));

describe('the first start', () => {
  test('tells what the sandbox means, how to leave it, and calls to try with its key', () => {
    const text = said(false);
    expect(text).toMatch(/In the sandbox all pictures carry a watermark, .* 24 hours\./);
    expect(text).toContain('npm run account -- upgrade admin@localhost\n');
    expect(text).toMatch(
      /sign in to the dashboard:\n\n +Address +http:\/\/localhost:8080\/dashboard\n +Sign-in +admin@localhost\n +Password +a password\n/,
    );
    expect(text.match(/curl -u the-sandbox-key: /g)).toHaveLength(3);
  });

  test('gives an upgraded account calls to try with the production key', () => {
    const text = said(true);
    expect(text).not.toContain('account -- upgrade');
    expect(text.match(/curl -u the-production-key: /g)).toHaveLength(3);
  });
});

test('a first start whose secrets are in a file names the file, and shows none of them', () => {
  const flags = { 'bootstrap.secretsFile': '/data/secrets.json' };
  const text = describeStart(app, loadConfig({ env: {}, flags }));
  expect(text).toContain('the API keys and the password are in /data/secrets.json.');
  expect(text).not.toMatch(/the-sandbox-key|the-production-key|a password$/m);
  expect(text.match(/curl -u "\$\(jq -r \.sandboxKey \/data\/secrets\.json\)": /g)).toHaveLength(3);
});

test('a later start says where the dashboard is, and shows no keys', () => {
  const text = said(false, { ...app, firstSecrets: undefined });
  expect(text).toMatch(/^ +Dashboard +http:\/\/localhost:8080\/dashboard$/m);
  expect(text).not.toMatch(/-key|sandbox|password/i);
});
