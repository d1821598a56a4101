import { BrowserBundles } from '../../src/http/pages/browser-bundles.ts';

/** Folder of the browser code, which vitest.config.ts builds. */
export const browserFolder = process.env.MILLRACE_TEST_BROWSER_FOLDER ?? '';

/** The bundles that servers of tests share. */
export const testBundles = new BrowserBundles({ basePath: '', folder: browserFolder });
