/** Prints what the tests of a run cost: `test-costs.ts REPORT`, with the report that `test-file-reporter.ts` wrote. */
import { readFileSync } from 'node:fs';
import { describeCosts } from './test-report.ts';

for (const path of process.argv.slice(2)) console.log(describeCosts(readFileSync(path, 'utf8')).join('\n'));
