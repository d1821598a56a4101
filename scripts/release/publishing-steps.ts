import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Lists the files of a release with their sizes, and what to do with them. */
export function publishingSteps(version: string, folder: string): string {
  const files = readdirSync(folder).sort();
  const sizes = files.map(name => {
    const megabytes = (statSync(join(folder, name)).size / 1e6).toFixed(1);
    return `  ${megabytes.padStart(6)} MB  ${name}`;
  });
  return `
${folder}:
${sizes.join('\n')}

Publish them in this order:
  1. git tag --sign v${version} && git push origin v${version}
  2. Sign the checksums, and add all files to the release page of the tag:
       gpg --armor --detach-sign ${join(folder, 'SHA256SUMS')}
       gh release create v${version} --verify-tag ${folder}/*
  3. npm publish ${join(folder, `millrace-${version}.tgz`)}
  4. Add both .deb files to your APT repository, if you have one: reprepro includedeb CODENAME ${folder}/*.deb
`;
}
