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
  const applies = entry.applies === 'now' ? 'at once' : 'restart';
  return `| \`${key}\` | \`${entry.env}\` | ${entry.kind.name} | ${fallback} | ${applies} | ${entry.prose} |`;
});

const reference = `# Settings

Written from \`src/config/settings\` by \`node scripts/write-references.ts\`; do not edit.

A setting is taken from, later ones winning: its default, the file \`config/server.json\` (another one with \`--config PATH\` or
\`MILLRACE_CONFIG\`), its environment variable, a flag \`--key=value\`. In the file a key \`a.b\` stands as \`{"a": {"b": ...}}\`; \`null\`
means unset. Durations carry a unit (\`ms\`, \`s\`, \`m\`, \`h\`, \`d\`), sizes too (\`B\`, \`KiB\`, \`MiB\`, \`GiB\`); 0 needs none. An unknown key refuses the start, and all
problems are told at once.

Settings that apply at once can also be changed in the dashboard, on the settings page of the server. Those values are stored in the database, for
all servers that share it, and win over the file, but not over the environment and flags.

| key | environment | kind | default | applies | meaning |
|---|---|---|---|---|---|
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
