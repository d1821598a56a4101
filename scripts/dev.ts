/** Runs the server from its sources: `npm run dev` starts it again after each change. */
import { buildBrowserCode } from './build/current-build.js';

process.env.MILLRACE_BROWSER_FOLDER = buildBrowserCode('--development');
await import('../src/main.ts');
