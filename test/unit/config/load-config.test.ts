import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type ConfigSources, defaultFile, loadConfig } from '../../../src/config/load-config.ts';
import { settings } from '../../../src/config/settings.ts';
import { AppError } from '../../../src/shared/errors.ts';
import { testTempDir } from '../../support/temp-dir.ts';

const load = (sources: Partial<ConfigSources>) => loadConfig({ env: {}, ...sources });

/** The problems of a refused configuration, one a line. */
function problemsOf(sources: Partial<ConfigSources>): string[] {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof AppError && error.code === 'config-invalid') return error.message.split('\n');
    throw error;
  }
  return [];
}

/** Path of a file with this content. */
async function fileWith(content: unknown): Promise<string> {
  const path = join(await testTempDir(), 'server.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('the table of settings', () => {
  test('every default can be read, and nothing else is needed', () => {
    const config = load({});
    expect(config['http.port']).toBe(8080);
    expect(config['live.partTarget']).toBe(200);
    expect(config['live.windowBytes']).toBe(64 * 1024 * 1024);
    expect(config['https.port']).toBeUndefined();
    expect(config.allowPrivateTargets).toBe(false);
    expect(config['videos.restore']).toBe(7);
  });

  test('every setting has its own variable, named after its key', () => {
    const names = Object.values(settings).map(({ env }) => env);
    expect(new Set(names).size).toBe(names.length);
    for (const [key, { env }] of Object.entries(settings)) {
      const words = key.replace(/[A-Z]/g, letter => `_${letter}`).replaceAll('.', '_');
      expect(env).toBe(`MILLRACE_${words.toUpperCase()}`);
    }
  });

  test('the file that is shipped holds every default and changes nothing', () => {
    const shipped = fileURLToPath(new URL('../../../config/server.json', import.meta.url));
    expect(JSON.parse(readFileSync(shipped, 'utf8'))).toEqual(defaultFile());
    expect(load({ file: shipped, fileRequired: true })).toEqual(load({}));
  });

  test('the reference names every setting and every variable', () => {
    const page = readFileSync(
      fileURLToPath(new URL('../../../config/reference.md', import.meta.url)),
      'utf8',
    );
    for (const [key, { env }] of Object.entries(settings)) {
      expect(page).toContain(`\`${key}\``);
      expect(page).toContain(`\`${env}\``);
    }
  });
});

describe('where values come from', () => {
  test('the file wins over defaults, the environment over the file, flags over all', async () => {
    const file = await fileWith({ http: { port: 1 }, rtmp: { port: 2 }, host: 'from-file' });
    const env = { MILLRACE_RTMP_PORT: '3', MILLRACE_HOST: 'from-env' };
    const config = load({ file, env, flags: { host: 'from-flag' } });
    expect(config).toMatchObject({
      'http.port': 1,
      'rtmp.port': 3,
      host: 'from-flag',
      'rtmp.idleTimeout': 30_000,
    });
  });

  test('a missing file is an error only when it was named', () => {
    expect(problemsOf({ file: '/nonexistent/server.json' })).toEqual([]);
    expect(problemsOf({ file: '/nonexistent/server.json', fileRequired: true })).toEqual([
      expect.stringContaining('/nonexistent/server.json: cannot be read'),
    ]);
  });

  test('null in the file means not given', async () => {
    const file = await fileWith({ http: { port: null }, https: { port: null }, dataDir: null });
    expect(load({ file })).toEqual(load({}));
  });

  test('an empty variable is one that is not set; those of others, and of tests, are none of ours', () => {
    const env = {
      MILLRACE_HTTP_PORT: '',
      MILLRACE_HOST: undefined,
      MILLRACE_TEST_X: '1',
      HOME: '/',
      MILLRACE_CONFIG: 'x',
    };
    expect(load({ env })).toEqual(load({}));
  });

  test('0 needs no unit, in the environment and as a number in the file', async () => {
    expect(load({ env: { MILLRACE_LIVE_REWIND: '0' } })['live.rewind']).toBe(0);
    expect(load({ file: await fileWith({ live: { rewind: 0 } }) })['live.rewind']).toBe(0);
  });

  test('a dotted key may stand at the top of the file too', async () => {
    const file = await fileWith({ 'http.port': 9000 });
    expect(load({ file })['http.port']).toBe(9000);
  });
});

describe('units', () => {
  test.each([
    ['live.reconnectGrace', '250ms', 250],
    ['live.reconnectGrace', '2s', 2000],
    // 2.01 * 1000 is 2009.9999999999998, which databases refuse as an integer.
    ['node.lease', '2.01s', 2010],
    ['live.reconnectGrace', '1.5s', 1500],
    ['live.reconnectGrace', '5m', 300_000],
    ['live.reconnectGrace', '1 h', 3_600_000],
    ['live.reconnectGrace', '0s', 0],
    ['live.rewind', '0', 0],
    ['recording.minFree', '0', 0],
    ['live.windowBytes', '2MiB', 2 * 1024 ** 2],
    ['live.windowBytes', '1GiB', 1024 ** 3],
    ['rtmp.maxMessage', '64KiB', 65_536],
    ['http.port', '0', 0],
    ['bootstrap.upgraded', 'true', true],
    ['bootstrap.upgraded', '0', false],
    ['videos.restore', '30d', 30],
    ['videos.restore', 'true', 90],
    ['videos.restore', 'false', 0],
    ['videos.restore', '0', 0],
    ['publicUrl', 'https://video.example.org/', 'https://video.example.org'],
    ['publicUrl', 'http://video.example.org:8443/live//', 'http://video.example.org:8443/live'],
  ])('%s = %j', (key, text, value) => {
    expect(load({ flags: { [key]: text } })[key as keyof typeof settings]).toEqual(value);
  });

  test.each([
    ['videos.restore', '36h', 'expected whole days such as 7d, at most 3650d, or false'],
    ['videos.restore', '4000d', 'expected whole days'],
    ['live.reconnectGrace', '2', 'expected a duration with its unit, such as 200ms, 2s or 5m'],
    ['live.reconnectGrace', '-2s', 'expected a duration'],
    ['live.reconnectGrace', '2 weeks', 'expected a duration'],
    ['live.reconnectGrace', '2h', 'expected 0 to 1h'],
    ['live.window', '0', 'expected 6s to '],
    ['live.windowBytes', '64', 'expected a size with its unit'],
    ['live.windowBytes', '64MB', 'expected a size with its unit'],
    ['live.windowBytes', '1KiB', 'expected 1MiB to '],
    ['http.port', '65536', 'expected a whole number from 0 to 65535'],
    ['http.port', '80.5', 'expected a whole number'],
    ['http.port', '0x50', 'expected a whole number'],
    ['http.port', 'http', 'expected a whole number'],
    ['bootstrap.upgraded', 'yes', 'expected true or false'],
    ['log.level', 'loud', 'expected one of trace, debug, info, warn, error, fatal'],
    ['host', '  ', 'expected a value that is not empty'],
    ['publicUrl', 'video.example.org', 'expected an address'],
    ['publicUrl', 'ftp://video.example.org', 'expected an address'],
    ['publicUrl', 'https://video.example.org/?a=b', 'expected an address'],
  ])('%s = %j is refused', (key, text, message) => {
    expect(problemsOf({ flags: { [key]: text } })).toEqual([expect.stringContaining(`--${key}: ${message}`)]);
  });

  test('a number without its unit is refused in the file too', async () => {
    const file = await fileWith({ live: { window: 16, windowBytes: 1e8 }, http: { port: true } });
    expect(problemsOf({ file })).toHaveLength(3);
  });
});

describe('refuses', () => {
  test('all problems are reported at once, each with its source', async () => {
    const file = await fileWith({
      http: { port: 'x' },
      live: { wimdow: '16s' },
      color: 'blue',
      rtmp: { port: 1935 },
    });
    const env = { MILLRACE_RTMP_PROT: '1', MILLRACE_LIVE_WINDOW: 'long' };
    const problems = problemsOf({ file, env, flags: { 'log.level': 'loud', 'no.such': '1' } });
    expect(problems.map(line => line.replace(file, 'FILE'))).toEqual([
      'FILE: live.wimdow: unknown setting',
      'FILE: color: unknown setting',
      'MILLRACE_RTMP_PROT: unknown setting',
      '--no.such: unknown setting',
      expect.stringMatching(/^FILE: http\.port: expected a whole number/),
      expect.stringMatching(/^MILLRACE_LIVE_WINDOW: expected a duration/),
      expect.stringMatching(/^--log\.level: expected one of/),
    ]);
  });

  test.each([
    ['not JSON', '{"http": ', 'is not JSON'],
    ['a list', [], 'expected an object'],
    ['a text', '"x"', 'expected an object'],
    ['a group that is none', { http: 8080 }, 'http: unknown setting'],
    ['a name that objects have', { constructor: { name: 'x' }, toString: 1 }, 'unknown setting'],
  ])('a file that is %s', async (_, content, message) => {
    expect(problemsOf({ file: await fileWith(content) }).join('\n')).toContain(message);
  });

  test.each([
    [{ 'tls.cert': 'a.pem' }, 'tls.cert and tls.key: set both or neither'],
    [
      { 'tls.cert': 'a.pem', 'tls.key': 'b.pem', 'tls.domains': 'example.org' },
      'tls.domains and tls.cert: the server gets a certificate for tls.domains, or reads that of tls.cert and tls.key. Leave one out.',
    ],
    [{ 'tls.email': 'a@example.org' }, 'tls.email: needs tls.domains, the names that the certificate is for'],
    [{ 'https.port': '8443' }, 'https.port: needs tls.domains, or tls.cert and tls.key'],
    [{ 'rtmps.port': '1936' }, 'rtmps.port: needs tls.domains, or tls.cert and tls.key'],
    [
      { 'oidc.issuer': 'https://login.example.org' },
      'oidc.issuer: needs oidc.clientId, which you get from the provider',
    ],
    [
      { 'live.partTarget': '1s', 'live.segmentTarget': '2s' },
      'live.partTarget: a segment must hold at least three parts',
    ],
    [{ 'http.port': '1935' }, 'rtmp.port: port 1935 is already used by http.port'],
    [
      { 'uploads.minFree': '1GiB' },
      'uploads.minFree: must be larger than recording.minFree (1GiB), or uploads would stop recordings. Raise uploads.minFree or lower recording.minFree.',
    ],
    [
      { 'recording.minFree': '3GiB' },
      'uploads.minFree: must be larger than recording.minFree (3GiB), or uploads would stop recordings. Raise uploads.minFree or lower recording.minFree.',
    ],
  ])('%j contradicts itself', (flags, message) => {
    expect(problemsOf({ flags })).toEqual([message]);
  });

  test('port 0 may be given to all, since each gets another', () => {
    expect(problemsOf({ flags: { 'http.port': '0', 'rtmp.port': '0' } })).toEqual([]);
  });
});

describe('names for a certificate', () => {
  test('are host names in their ASCII form, once each, and turn HTTPS on', () => {
    const config = load({ flags: { 'tls.domains': 'Video.Example.org., bücher.example,video.example.org' } });
    expect(config['tls.domains']).toEqual(['video.example.org', 'xn--bcher-kva.example']);
    expect(config['https.port']).toBe(443);
    expect(load({ flags: { 'tls.domains': 'a.example', 'https.port': '8443' } })['https.port']).toBe(8443);
    expect(load({})['https.port']).toBeUndefined();
  });

  test.each([
    ['', 'host names such as'],
    ['*.example.org', 'list each name'],
    ['203.0.113.7', 'host names such as'],
    ['0x7f.1', 'host names such as'],
    ['[::1]', 'host names such as'],
    ['a..example', 'host names such as'],
    ['a.example,,b.example', 'host names such as'],
    ['https://a.example', 'host names such as'],
    ['a.example:443', 'host names such as'],
    [Array.from({ length: 101 }, (_, number) => `a${number}.example`).join(), 'at most 100'],
  ])('refuses %s', (given, message) => {
    expect(problemsOf({ flags: { 'tls.domains': given } }).join()).toContain(message);
  });

  test.each(['http://ca.example/dir', 'ca.example'])('refuses the directory %s', directory => {
    expect(problemsOf({ flags: { 'tls.acmeDirectory': directory } }).join()).toContain('tls.acmeDirectory');
  });
});

test('secrets do not print with the settings, nor when they are refused', () => {
  const flags = { 'metrics.token': 'very-secret-text', 'bootstrap.sandboxKey': 'very-secret-key' };
  const config = load({ flags });
  expect(config['metrics.token']?.reveal()).toBe('very-secret-text');
  expect(inspect(config) + JSON.stringify(config)).not.toContain('very-secret');
  expect(problemsOf({ flags: { ...flags, 'http.port': 'x' } }).join('\n')).not.toContain('very-secret');
});
