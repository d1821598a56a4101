/**
 * Writes what is derived from the code: `config/server.json`, `config/reference.md`, the files of `packaging/monitoring`, the version
 * of the package in the files that name it, and the types with which the dashboard calls the API.
 * With `--check` it writes nothing and ends with 1 when a file is not what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { defaultFile } from '../src/config/load-config.ts';
import { settings } from '../src/config/settings.ts';
import { buildApiDocument } from './api-document.ts';
import { apiTypesOf } from './api-types.ts';
import { monitoringFiles } from './monitoring.ts';
import { withVersion } from './version-files.ts';

const root = new URL('../', import.meta.url);

const rows = Object.entries(settings).map(([key, entry]) => {
  const fallback = entry.fallback === null ? 'unset' : `\`${entry.fallback}\``;
  const applies = entry.applies === 'now' ? ' Applies at once.' : '';
  return `| \`${key}\` \`${entry.env}\` | ${fallback} (${entry.kind.name}) | ${entry.prose}${applies} |`;
});

const reference = `# Settings

The server takes each setting from the first of these that has it:

1. a flag, \`--key=value\`
2. the environment variable
3. the dashboard, on the settings page of the server: settings that apply at once, for all servers that share a database
4. the file \`config/server.json\`, or the one that \`--config PATH\` or \`MILLRACE_CONFIG\` names
5. the default

In the file, the key \`a.b\` is written as \`{"a": {"b": ...}}\`, and \`null\` means unset. Durations and sizes have a unit (\`ms\`, \`s\`, \`m\`, \`h\`, \`d\`; \`B\`, \`KiB\`,
\`MiB\`, \`GiB\`), except 0. Settings apply at the next start, unless it says that they apply at once. With an unknown key or an invalid value, the server does not start, and lists all problems.

| setting | default | meaning |
|---|---|---|
${rows.join('\n')}
`;

const files: Record<string, string> = {
  'config/server.json': `${JSON.stringify(defaultFile(), null, 2)}\n`,
  'config/reference.md': reference,
  ...monitoringFiles(),
  ...withVersion(),
  'src/web/dashboard/api/api-types.ts': apiTypesOf(await buildApiDocument(), await dashboardSources()),
};

const stale: string[] = [];
for (const [path, content] of Object.entries(files)) {
  const url = new URL(path, root);
  let present = '';
  try {
    present = readFileSync(url, 'utf8');
  } catch {
    // A missing file is a stale one.
  }
  if (present === content) continue;
  if (process.argv.includes('--check')) stale.push(path);
  else writeFileSync(url, content);
}
if (stale.length > 0) {
  console.error(`not up to date: ${stale.join(', ')}; run: node scripts/write-references.ts`);
  process.exitCode = 1;
}

async function dashboardSources(): Promise<string> {
  const texts: string[] = [];
  for await (const path of glob('src/web/**/*.{ts,tsx}', { cwd: root })) {
    if (!path.endsWith('api-types.ts')) texts.push(await readFile(new URL(path, root), 'utf8'));
  }
  return texts.join('\n');
}
