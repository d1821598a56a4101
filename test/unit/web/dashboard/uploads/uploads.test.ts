import { describe, expect, it } from 'vitest';
import { SpeedMeter } from '../../../../../src/web/dashboard/uploads/speed-meter.ts';
import { titleOf, type Upload } from '../../../../../src/web/dashboard/uploads/upload.ts';
import { classifyFailure } from '../../../../../src/web/dashboard/uploads/upload-failure.ts';
import { summarizeUploads, uploadPercent } from '../../../../../src/web/dashboard/uploads/upload-summary.ts';

const upload = (state: Upload['state'], sentBytes = 0): Upload => ({
  id: '1',
  title: 'Film',
  fileName: 'Film.mp4',
  fileBytes: 100,
  environment: 'production',
  state,
  sentBytes,
});

describe('Pace', () => {
  it('tells nothing at first, then the speed of the last seconds', () => {
    const pace = new SpeedMeter();
    pace.record(0, 0);
    expect(pace.bytesPerSecond).toBeUndefined();
    pace.record(500, 500);
    expect(pace.bytesPerSecond).toBeUndefined();
    pace.record(1_000, 1_000);
    expect(pace.bytesPerSecond).toBe(1_000);
    for (let second = 2; second <= 30; second += 1) pace.record(second * 1_000, 1_000 + (second - 1) * 10);
    expect(pace.bytesPerSecond).toBeCloseTo(10);
  });

  it('begins again where something has to be sent again', () => {
    const pace = new SpeedMeter();
    pace.record(0, 0);
    pace.record(2_000, 4_000);
    pace.record(2_100, 0);
    expect(pace.bytesPerSecond).toBeUndefined();
  });
});

describe('judgeFailure', () => {
  it.each([
    [0, '', 'wait'],
    [429, 'too-many-requests', 'wait'],
    [503, 'server-draining', 'wait'],
    [503, 'disk-full', 'give-up'],
    [500, '', 'try-again'],
    [502, '', 'try-again'],
    [408, 'request-timeout', 'try-again'],
    [400, 'video-content-range-by-bytes-range-overlap', 'try-again'],
    [400, 'uploaded-file-too-large', 'give-up'],
    [401, 'authentication-session', 'give-up'],
    [404, 'resource-not-found', 'give-up'],
  ])('%i %s: %s', (status, code, verdict) => {
    expect(classifyFailure(status, code)).toBe(verdict);
  });
});

describe('titleOf', () => {
  it.each([
    ['Harbour at dawn.mp4', 'Harbour at dawn'],
    ['v1.2 final.mov', 'v1.2 final'],
    ['.mp4', '.mp4'],
    ['no ending', 'no ending'],
    ['Part 1. The beginning of it', 'Part 1. The beginning of it'],
  ])('%s: %s', (fileName, title) => {
    expect(titleOf(fileName)).toBe(title);
  });
});

describe('the summary of uploads', () => {
  it('says what matters most', () => {
    expect(summarizeUploads([upload('sending'), upload('waiting'), upload('paused')])).toBe(
      'Uploading 2 files, 1 paused',
    );
    expect(summarizeUploads([upload('interrupted'), upload('processing')])).toBe(
      '1 processing, 1 interrupted',
    );
    expect(summarizeUploads([upload('ready'), upload('ready')])).toBe('2 files uploaded');
    expect(summarizeUploads([upload('ready'), upload('unplayable'), upload('failed')])).toBe(
      '1 done, 2 failed',
    );
    expect(summarizeUploads([upload('failed'), upload('unplayable')])).toBe('2 failed');
  });

  it('counts what is not there yet', () => {
    expect(uploadPercent([upload('sending', 50), upload('waiting'), upload('ready', 100)])).toBe(25);
    expect(uploadPercent([upload('sending', 50), upload('failed')])).toBe(50);
    expect(uploadPercent([upload('ready', 100)])).toBeUndefined();
  });
});
