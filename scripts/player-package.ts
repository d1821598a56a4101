/** Writes the npm package of the player element: `node scripts/player-package.ts [FOLDER]`, `dist/player` unless given. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { distFolder } from './build/current-build.js';
import { buildPlayerPackage } from './build/player-package.ts';

const folder = process.argv[2] ?? join(distFolder, 'player');
const files = await buildPlayerPackage();
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const [name, content] of files) await writeFile(join(folder, name), content);
console.log(`${folder}: ${files.size} files`);
