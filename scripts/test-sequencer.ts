import { matchesGlob, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { clusterFiles } from '../test/support/cluster-files.ts';
import { projectRoot } from './project-files.ts';

/** Small files that take half a minute or more. Vitest begins with the largest ones: these would be alone at the end. */
const longFiles =
  /\/(idle-memory|api-(bad-input|isolation)-walk|cluster-lease|cluster-killed|cluster-player|vod-fair)\.test\.ts$/;

/** Projects whose files mostly take a second or two, in the order in which they end a run. */
const shortProjects = ['service', 'unit'];

/**
 * Orders test files so that a machine with few cores is busy from the start to the end. Files of all projects whose files share nothing
 * come first and are mixed. Projects whose files share a worker's modules follow one after the other, those with short files last: no core
 * is idle for long at the end. Files that wait for leases are spread among the others of their project, which encode.
 */
export class TestSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isShort = ({ moduleId }: TestSpecification) => Number(!longFiles.test(moduleId));
    const sorted = (await super.sort(files)).toSorted((one, other) => isShort(one) - isShort(other));
    const { alone = [], shared = [] } = Object.groupBy(sorted, ({ project }) =>
      project.config.isolate ? 'alone' : 'shared',
    );
    const place = ({ project }: TestSpecification) => shortProjects.indexOf(project.name);
    const byProject = Map.groupBy(
      shared.toSorted((one, other) => place(one) - place(other)),
      ({ project }) => project,
    );
    return [
      ...spread(alone, ({ project }) => project),
      ...[...byProject.values()].flatMap(ofProject => spread(ofProject, waitsForLeases)),
    ];
  }
}

/** Mixes groups evenly, each in its order. */
function spread<Item>(items: readonly Item[], groupOf: (item: Item) => unknown): Item[] {
  return [...Map.groupBy(items, groupOf).values()]
    .flatMap(group => group.map((item, index) => ({ item, place: index / group.length })))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

function waitsForLeases({ moduleId }: TestSpecification): boolean {
  const file = relative(projectRoot, moduleId);
  return clusterFiles.some(pattern => matchesGlob(file, pattern));
}
