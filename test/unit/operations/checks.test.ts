import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exitCodeOf, formatFindings } from '../../../src/cli/doctor/print-findings.ts';
import { failed, ok, skipped, warning } from '../../../src/operations/checks/finding.ts';
import { describeLatency } from '../../../src/operations/checks/latency-check.ts';
import { checkClock, checkOpenFiles, describeSpeed } from '../../../src/operations/checks/machine-checks.ts';
import type { Probe } from '../../../src/operations/checks/probe.ts';
import {
  checkOwnUrl,
  checkPublicUrl,
  describeClocks,
  describeProxy,
  describeQuery,
  describeTls,
} from '../../../src/operations/checks/public-checks.ts';
import { runChecks } from '../../../src/operations/checks/run-checks.ts';
import {
  describeCertificate,
  describeDatabase,
  describeDefaultUrl,
  describeHardware,
} from '../../../src/operations/checks/server-checks.ts';

const dayMs = 86_400_000;
const advice = { why: 'Something stops.', mend: 'do it' };

describe('findings', () => {
  it('are printed with what mends them', () => {
    const findings = [
      ok('ffmpeg', 'Fine.'),
      warning('clock', 'Wrong.', advice),
      skipped('bucket', 'Unknown.'),
    ];
    expect(formatFindings(findings)).toBe(
      '[✓] ffmpeg: Fine.\n[!] Clock: Wrong.\n    Something stops.\n    → do it\n[-] Bucket: Unknown.\n\n1 ok, 1 warning, 0 failed, 1 not checked.\n',
    );
  });

  it('are printed without escape sequences', () => {
    expect(formatFindings([ok('proxy', 'http://x\u001b]0;y\u0007.')])).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('decide the exit code', () => {
    const states = [
      ok('ffmpeg', ''),
      skipped('clock', ''),
      warning('clock', '', advice),
      failed('http', '', advice),
    ];
    expect(states.map((_, count) => exitCodeOf(states.slice(0, count + 1)))).toEqual([0, 0, 1, 2]);
  });
});

describe('checks', () => {
  it('run one after the other, and a broken one is a finding', async () => {
    const order: string[] = [];
    const findings = await runChecks(
      [
        {
          name: 'database',
          run: async () => {
            await sleep(5);
            order.push('database');
            throw new Error('gone');
          },
        },
        {
          name: 'ffmpeg',
          run: async () => {
            order.push('ffmpeg');
            return [ok('ffmpeg', 'Fine.')];
          },
        },
      ],
      new AbortController().signal,
    );
    expect(order).toEqual(['database', 'ffmpeg']);
    expect(findings).toMatchObject([
      { check: 'database', state: 'failed', text: 'This could not be checked: gone.' },
      { check: 'ffmpeg', state: 'ok' },
    ]);
  });

  it('find a slow disk, and too few descriptors', () => {
    expect(describeSpeed(200e6, 2).state).toBe('ok');
    expect(describeSpeed(12e6, 2)).toMatchObject({
      state: 'warning',
      why: expect.stringContaining('broadcasts stall'),
    });
    expect(describeSpeed(200e6, 90)).toMatchObject({
      state: 'warning',
      why: expect.stringContaining('the database'),
    });
    const connections = { http: 20_000, rtmp: 20_000 };
    expect(checkOpenFiles(connections, 1_024)).toMatchObject({
      state: 'warning',
      text: '1,024 files may be open, but all allowed connections need 41,000.',
      mend: expect.stringContaining('LimitNOFILE=65536'),
    });
    expect(checkOpenFiles(connections, Number.POSITIVE_INFINITY).state).toBe('ok');
  });

  it('find who sets the clock', () => {
    const withFiles = (...paths: string[]) => checkClock(path => paths.includes(path)).state;
    expect(withFiles('/run/systemd/system', '/run/systemd/timesync/synchronized')).toBe('ok');
    expect(withFiles('/run/systemd/system', '/run/chrony')).toBe('ok');
    expect(withFiles('/run/systemd/system')).toBe('warning');
    expect(withFiles()).toBe('skipped');
    expect(withFiles('/run/systemd/system', '/.dockerenv')).toBe('skipped');
  });

  it('find a database that is far away, or has another clock', () => {
    expect(describeDatabase('sqlite', 0.1, 0).state).toBe('ok');
    expect(describeDatabase('postgres', 45, 0)).toMatchObject({
      state: 'warning',
      mend: expect.stringContaining('same network'),
    });
    expect(describeDatabase('postgres', 1, -90_000)).toMatchObject({
      state: 'warning',
      text: 'PostgreSQL answers within 1.0 ms. Its clock is 90 s behind the one here.',
    });
  });

  it('tell a hardware encoder that is wanted from one that may be', () => {
    const missing = { kind: 'software', reason: 'No hardware encoder found' };
    expect(describeHardware({ kind: 'nvenc' }, true).state).toBe('ok');
    expect(describeHardware(missing, false)).toMatchObject({
      state: 'ok',
      text: 'x264 encodes: no hardware encoder found.',
    });
    expect(describeHardware({ kind: 'software', reason: 'vaapi: no device' }, true).state).toBe('warning');
  });

  it('find a certificate that ends', () => {
    const state = (days: number | undefined, isRenewed: boolean, problem?: string) =>
      describeCertificate({ expiresAtMs: days && days * dayMs, isRenewed, problem }, 0).state;
    expect([state(60, false), state(7, false), state(7, true), state(-1, false)]).toEqual([
      'ok',
      'warning',
      'ok',
      'failed',
    ]);
    expect([state(undefined, true), state(undefined, false), state(60, true, 'No answer.')]).toEqual([
      'skipped',
      'failed',
      'warning',
    ]);
  });

  it('name the public URL that a certificate is for', () => {
    const certificate = { isRenewed: false, names: ['localhost', 'video.example.org'] };
    expect(describeDefaultUrl('https://localhost:8443', certificate)).toMatchObject({
      state: 'warning',
      mend: 'MILLRACE_PUBLIC_URL=https://video.example.org:8443',
    });
    for (const names of [['localhost'], undefined])
      expect(describeDefaultUrl('https://localhost', { isRenewed: false, names }).state).toBe('skipped');
  });

  it('tell why the last viewers were late', () => {
    const none = {
      ultraLow: 0,
      low: 0,
      standard: 0,
      appleWithoutHttp2: 0,
      unconnected: 0,
      full: 0,
      unsuitable: 0,
    };
    expect(describeLatency(none).state).toBe('skipped');
    expect(describeLatency({ ...none, ultraLow: 2, low: 7, unsuitable: 1 })).toMatchObject({
      state: 'ok',
      text: 'The last viewers: 2 with ultra low latency (WebRTC), 7 with low latency (HLS parts). 1 wanted WebRTC, for a broadcast that is not offered there or has B-frames.',
    });
    const reasons = [
      [{ low: 9, unconnected: 4 }, 'WebRTC port'],
      [{ ultraLow: 50, full: 1 }, 'play HLS instead'],
      [{ low: 1, standard: 4, appleWithoutHttp2: 4 }, 'HTTP/2'],
      [{ low: 1, standard: 4 }, 'drops the query'],
    ] as const;
    for (const [counts, why] of reasons) {
      expect(describeLatency({ ...none, ...counts })).toMatchObject({
        state: 'warning',
        why: expect.stringContaining(why),
      });
    }
  });
});

describe('checks of the public address', () => {
  const probe: Probe = {
    product: 'millrace',
    time: '2026-03-04T05:06:07Z',
    address: '8.8.8.8',
    isSecure: true,
    publicUrl: 'https://video.example.org',
    ports: { rtmp: 1935, rtmps: null, srt: null, webrtc: null },
  };

  /** Answers the probe, and breaks every other connection. */
  async function startBrokenServer(head: string): Promise<string> {
    const server = createServer((request, response) => {
      if (head !== '') request.socket.end(head);
      else if (request.url === '/health/probe') response.end(JSON.stringify(probe));
      else request.socket.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('survive a server that breaks connections, or changes the protocol', async () => {
    const { signal } = new AbortController();
    const { findings } = await checkPublicUrl(await startBrokenServer(''), signal);
    expect(findings.filter(({ state }) => state === 'failed').map(({ check }) => check)).toEqual([
      'query',
      'range',
      'buffering',
    ]);
    const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n';
    const changed = await checkPublicUrl(await startBrokenServer(head), signal);
    expect(changed.findings.find(({ check }) => check === 'http')).toMatchObject({ state: 'failed' });
  });

  it('end with warnings when the time for the own URL is over', async () => {
    const base = (await startBrokenServer('')).replace('http:', 'https:');
    const findings = await checkOwnUrl(base, AbortSignal.abort());
    expect(findings.filter(({ check }) => ['certificate', 'http'].includes(check))).toMatchObject([
      { state: 'warning' },
      { state: 'warning' },
    ]);
  });

  it('explain why a certificate is not trusted', () => {
    const why = (problem: string | undefined, days = 60) =>
      describeTls({ problem, expiresAtMs: days * dayMs, names: 'other.example.org' }, 'video.example.org', 0);
    expect([why(undefined).state, why(undefined, 5).state]).toEqual(['ok', 'warning']);
    const texts = {
      CERT_HAS_EXPIRED: 'expired',
      CERT_NOT_YET_VALID: 'not valid yet',
      ERR_TLS_CERT_ALTNAME_INVALID: 'is for other.example.org, not for video.example.org',
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'whole chain',
      DEPTH_ZERO_SELF_SIGNED_CERT: 'signed by nobody',
      CERT_REVOKED: 'CERT_REVOKED',
    };
    for (const [code, text] of Object.entries(texts)) {
      expect(why(code)).toMatchObject({ state: 'failed', text: expect.stringContaining(text) });
    }
  });

  it('find a proxy that the server does not know', () => {
    const at = (changed: Partial<Probe>, base = 'https://video.example.org') =>
      describeProxy({ ...probe, ...changed }, base);
    expect(at({}).state).toBe('ok');
    expect(at({ isSecure: false }).mend).toContain('MILLRACE_HTTP_TRUSTED_PROXIES');
    expect(at({ address: '172.17.0.1' }).text).toBe('The server sees a private address in place of yours.');
    expect(at({ publicUrl: 'http://localhost:8080' }).mend).toBe(
      'MILLRACE_PUBLIC_URL=https://video.example.org',
    );
    expect(
      at(
        { address: '127.0.0.1', publicUrl: 'http://localhost:8080', isSecure: false },
        'http://localhost:8080/',
      ).state,
    ).toBe('ok');
  });

  it('tell a dropped query from a shared one', () => {
    const missing = 'msn=missing part=missing';
    expect(describeQuery([1, 2], ['msn=1 part=1', 'msn=2 part=1']).state).toBe('ok');
    expect(describeQuery([1, 2], [missing, missing]).text).toContain('drops or changes');
    expect(describeQuery([1, 2], ['msn=1 part=1', 'msn=1 part=1']).text).toContain('A cache');
  });

  it('allow the clocks the time that the request took', () => {
    expect([describeClocks(-3_000, 1_500).state, describeClocks(9_000, 100).state]).toEqual([
      'ok',
      'warning',
    ]);
    expect(describeClocks(-60_000, 0).text).toBe('The clock of the server is 60 s behind the one here.');
  });
});
