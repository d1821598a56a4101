import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BrowserBundles } from '../../src/http/pages/browser-bundles.ts';
import { silentLogger } from '../../src/shared/logger.ts';

/** The bundles that servers of tests share. They are built when one is needed first. */
export const testBundles = new BrowserBundles({
  basePath: '',
  fallbackFolder: join(tmpdir(), 'millrace-test-bundles'),
  isDevelopment: false,
  log: silentLogger,
});
