import { expect, test } from 'vitest';
import { missingDescriptors, readDescriptorLimit } from '../../../../src/shared/files/descriptor-limit.ts';

test('the limit of this process is known on Linux', () => {
  const limit = readDescriptorLimit();
  if (process.platform === 'linux') expect(limit).toBeGreaterThan(0);
  else expect(limit).toBeUndefined();
});

test('a limit below the configured connections comes with what to do', () => {
  const connections = { http: 20_000, rtmp: 20_000 };
  expect(missingDescriptors(4_096, connections)).toEqual({
    limit: 4_096,
    needed: 41_000,
    advice: expect.stringMatching(/LimitNOFILE.*http\.maxConnections and rtmp\.maxConnections/),
  });
  for (const limit of [41_000, Number.POSITIVE_INFINITY, undefined]) {
    expect(missingDescriptors(limit, connections)).toBeUndefined();
  }
});
