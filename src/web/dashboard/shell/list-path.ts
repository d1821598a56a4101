/** The list of what a page shows: a single resource belongs to one environment of one project. */
export function listPathOf(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}
