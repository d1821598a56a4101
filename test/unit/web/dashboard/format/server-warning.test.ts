import { describe, expect, it } from 'vitest';
import {
  formatServerWarning,
  type WarnedState,
} from '../../../../../src/web/dashboard/format/server-warning.ts';

const well: WarnedState = {
  warnings: [],
  cpu: { cores: 2, serverPercent: 1, machinePercent: 5 },
  memory: { serverBytes: 1e8, childrenBytes: 0, machineTotalBytes: 8e9, machineFreeBytes: 4e9 },
  disk: { totalBytes: 1e11, freeBytes: 9e10, minFreeBytes: 1e9 },
  queue: { waiting: 0, running: 0, failedToday: 0, isPaused: false },
  live: { broadcasts: 0, viewers: 0, recordingLagSeconds: 0 },
  programs: [],
};
const failure = {
  reason: 'ca.example found no address.',
  uncoveredDomains: [],
  retryAt: '2026-03-04T05:06:00+00:00',
};
const valid = {
  domains: ['a.example', 'b.example'],
  state: 'valid',
  expiresAt: '2026-04-04T05:06:00+00:00',
  failure,
} as const;

describe('warnings of the server', () => {
  it('tell how much of a recording is not stored', () => {
    const live = { ...well.live, recordingLagSeconds: 12 };
    expect(formatServerWarning('recording-upload-behind', { ...well, live })).toBe(
      'The object storage is too slow: 12 seconds of a recording are not stored yet, and would be missing if this server were lost now.',
    );
  });

  it('tell which program is too old', () => {
    const programs = [
      { name: 'ffprobe', path: '/p', version: '7.1' },
      { name: 'ffmpeg', path: '/f', version: '4.4', lacks: ['SRT', 'GPU encoders'] },
    ] as const;
    expect(formatServerWarning('program-lacks', { ...well, programs })).toMatch(/^ffmpeg 4\.4 is too old/);
    expect(formatServerWarning('program-lacks', well)).toBeUndefined();
  });

  it.each([
    [
      valid,
      /^The server could not get a new certificate for a\.example, b\.example\. The current one is valid until .*Apr.*2026/,
    ],
    [
      { ...valid, failure: { ...failure, uncoveredDomains: ['b.example'] } },
      /valid until [^.]+\. It does not cover b\.example, where only HTTP works\. The server tries again/,
    ],
    [{ ...valid, state: 'expired' }, /^The certificate for a\.example, b\.example expired on .*Apr/],
    [
      { ...valid, state: 'missing', expiresAt: undefined },
      /^There is no certificate for a\.example, b\.example yet: .* The server tries again on .*Mar.*2026/,
    ],
  ] as const)(
    'tell what becomes of the certificate, why, and when the server tries again: %j',
    (certificate, text) => {
      const said = formatServerWarning('certificate-failed', { ...well, certificate });
      expect(said).toMatch(text);
      expect(said).toMatch(/The reason: \u2068ca\.example found no address\.\u2069$/);
    },
  );

  it('are left to the server where it tells no more', () => {
    const certificate = { domains: ['a.example'], state: 'missing' } as const;
    expect(formatServerWarning('certificate-failed', { ...well, certificate })).toBeUndefined();
  });
});
