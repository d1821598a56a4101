import { describe, expect, test } from 'vitest';
import { unsupportedNodeReason } from '../../../src/shared/node-version.ts';

describe('the version of Node', () => {
  test.each([['24.9.0'], ['24.21.0'], ['25.0.0'], [process.versions.node]])('%s will do', version => {
    expect(unsupportedNodeReason(version)).toBeUndefined();
  });

  test.each([['20.19.0'], ['22.20.1'], ['24.8.0']])('%s is too old, which is said', version => {
    expect(unsupportedNodeReason(version)).toBe(`Millrace needs Node 24.9 or newer, this is ${version}.`);
  });
});
