import { describe, expect, it } from 'vitest';
import { sharesBetween } from '../../../src/operations/server-state/machine.ts';
import { findWarnings } from '../../../src/operations/server-state/server-warnings.ts';

const gigabyte = 1e9;
type ServerMeasurements = Parameters<typeof findWarnings>[0];

const well: ServerMeasurements = {
  cpu: { cores: 4, serverPercent: 2, machinePercent: 20 },
  memory: { serverBytes: 1e8, machineTotalBytes: 8 * gigabyte, machineFreeBytes: 4 * gigabyte },
  disk: { totalBytes: 100 * gigabyte, freeBytes: 50 * gigabyte, minFreeBytes: gigabyte },
  queue: { waiting: 3, running: 1, failedToday: 0, isPaused: false },
  programs: [{ name: 'ffmpeg', path: '/usr/bin/ffmpeg', version: '7.1' }],
};

describe('shares of the processor', () => {
  const at = (totalMs: number, busyMs: number, processMs: number) => ({ totalMs, busyMs, processMs });

  it('are of all cores, between two readings', () => {
    expect(sharesBetween(at(1_000, 500, 100), at(21_000, 5_500, 1_234))).toEqual({
      serverPercent: 6,
      machinePercent: 25,
    });
  });

  it('are nothing where no time has passed, and never outside of 0 to 100', () => {
    expect(sharesBetween(at(1, 1, 1), at(1, 1, 9))).toEqual({ serverPercent: 0, machinePercent: 0 });
    expect(sharesBetween(at(0, 50, 0), at(100, 0, 150))).toEqual({ serverPercent: 100, machinePercent: 0 });
  });
});

describe('warnings', () => {
  it('are none where all is well', () => {
    expect(findWarnings(well)).toEqual([]);
  });

  it.each<[string, Partial<ServerMeasurements>, string]>([
    [
      'disk-full',
      { disk: { ...well.disk, freeBytes: 0.9 * gigabyte } },
      'Uploads are refused: 900 MB of disk space is free, and 1 GB must stay free. Delete videos or free up space.',
    ],
    [
      'disk-nearly-full',
      { disk: { ...well.disk, freeBytes: 2.34 * gigabyte } },
      'The disk is nearly full: 2.3 GB of disk space is free. Below 1 GB, uploads are refused.',
    ],
    [
      'memory-low',
      { memory: { ...well.memory, machineFreeBytes: 3e8 } },
      'The machine is running out of memory: 300 MB of 8 GB is free. Stop other programs or add memory.',
    ],
    [
      'cpu-busy',
      { cpu: { ...well.cpu, machinePercent: 97.4 } },
      'The machine is busy: 97% of its 4 cores are in use. Live streams come first, so videos take longer.',
    ],
    [
      'encoding-paused',
      { queue: { ...well.queue, isPaused: true } },
      'Video encoding is paused while live streams need the processor.',
    ],
    [
      'queue-long',
      { queue: { ...well.queue, waiting: 120 } },
      '120 jobs are waiting. New videos take longer than usual.',
    ],
    [
      'program-lacks',
      { programs: [{ ...well.programs[0]!, version: '4.4', lacks: ['SRT', 'GPU encoders'] }] },
      'ffmpeg 4.4 does not support SRT; GPU encoders. Install a newer version.',
    ],
  ])('tell of %s in words', (code, facts, text) => {
    expect(findWarnings({ ...well, ...facts })).toEqual([{ code, text }]);
  });
});
