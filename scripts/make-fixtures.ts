import { mkdir } from 'node:fs/promises';
import { fixtureNames, makeFixture } from '../test/support/fixtures.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write(
    'Usage: node scripts/make-fixtures.ts FOLDER\nMakes the synthetic media of the tests in there.\n',
  );
  process.exit(1);
}
await mkdir(folder, { recursive: true });
for (const name of fixtureNames) process.stdout.write(`${await makeFixture(name, folder)}\n`);
