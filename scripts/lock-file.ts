/** The parts of `package-lock.json` that are checked. */
interface LockedPackage {
  readonly resolved?: string;
  /** False keeps npm from building the package; npm reads it, but does not write it. */
  readonly gypfile?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Prebuilt packages that npm before `allowScripts` would compile again. */
const builtPackages = ['better-sqlite3'];

/**
 * Lists problems that would break `npm ci` elsewhere: a URL ties the lock file to one registry, and npm omits packages for other
 * platforms when its registry lacks them, after which `npm ci` refuses the file.
 *
 * @param text content of `package-lock.json`
 */
export function lockFileProblems(text: string): string[] {
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockedPackage>> };
  const problems: string[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    if (entry.resolved !== undefined) problems.push(`package-lock.json: ${path} names where it came from`);
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      if (!isLocked(packages, path, name)) {
        problems.push(`package-lock.json: ${name}, which ${path || 'the project'} needs, is missing`);
      }
    }
  }
  for (const name of builtPackages) {
    const entry = packages[`node_modules/${name}`];
    if (entry !== undefined && entry.gypfile !== false) {
      problems.push(`package-lock.json: put "gypfile": false into ${name}, so that npm does not build it`);
    }
  }
  return problems;
}

/** Looks where Node would: in the package's own folder, then in each one around it. */
function isLocked(packages: Readonly<Record<string, LockedPackage>>, from: string, name: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (Object.hasOwn(packages, `${folder}${folder === '' ? '' : '/'}node_modules/${name}`)) return true;
    if (folder === '') return false;
  }
}
