/** Runs the built program, and builds it first in a clone whose sources have changed. Every Node since 12 can parse this file. */
const { existsSync, readdirSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { dirname, join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { engines } = require('../package.json');

const root = join(__dirname, '..');
const needed = engines.node.replace('>=', '');

if (isOlder(process.versions.node, needed)) {
  fail(
    `Millrace needs Node ${needed} or newer, but this is Node ${process.versions.node}: install it from https://nodejs.org. In a clone, \`npm start\` and \`npm run\` bring their own.`,
  );
} else {
  // Resolves when a server is ready.
  findMain().then(
    main => {
      // Compiling takes a sixth of a start. Nothing is cached where this folder cannot be written.
      if (main.endsWith('.js')) enableCompileCache(join(dirname(main), 'code'));
      return import(pathToFileURL(main).href).catch(error => fail(error.stack));
    },
    error => fail(error.message),
  );
}

/** @param {string} version @param {string} other */
function isOlder(version, other) {
  const [major, minor] = version.split('.').map(Number);
  const [otherMajor, otherMinor] = other.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

/** Returns the path of the program. */
async function findMain() {
  if (!existsSync(join(root, 'src/main.ts'))) {
    // An upgrade leaves the folder of the build before, if compiled code is in it.
    const mains = readdirSync(join(root, 'dist')).map(name => join(root, 'dist', name, 'main.js'));
    const main = mains.find(path => existsSync(path));
    if (main === undefined)
      throw new Error(`There is no program in ${join(root, 'dist')}: install Millrace again.`);
    return main;
  }
  // Tests look for it once, not at each start of a server.
  const known = process.env.MILLRACE_TEST_BUILD || '';
  if (dirname(known) === join(root, 'dist')) return join(known, 'main.js');
  const { buildBrowserCode, findOrBuild } = await import('../scripts/build/current-build.js');
  const build = findOrBuild();
  if (build !== undefined) return join(build, 'main.js');
  process.env.MILLRACE_BROWSER_FOLDER = buildBrowserCode();
  return join(root, 'src/main.ts');
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
