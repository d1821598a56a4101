import { readFileSync } from 'node:fs';
import about from '../package.json' with { type: 'json' };

/** Texts before a version, by the file that has them. */
const versionTexts: Readonly<Record<string, RegExp>> = {
  'compose.yaml': /(image: \$\{IMAGE:-millrace:)[^}]*/g,
  'docs/cluster/compose.yaml': /(image: \$\{IMAGE:-millrace:)[^}]*/g,
  Dockerfile: /(org\.opencontainers\.image\.version=")[^"]*/g,
  'packaging/helm/Chart.yaml': /(\n(?:version|appVersion): ).*/g,
};

/** @returns contents, by path, of the files that name the version of the package */
export function withVersion(): Record<string, string> {
  const root = new URL('../', import.meta.url);
  const entries = Object.entries(versionTexts).map(([path, pattern]) => {
    const text = readFileSync(new URL(path, root), 'utf8');
    return [path, text.replaceAll(pattern, (_, before: string) => before + about.version)];
  });
  return Object.fromEntries(entries);
}
