import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Small files that take half a minute or more. Vitest begins with the largest ones: these would be alone at the end. */
const longFiles =
  /\/(idle-memory|api-(bad-input|isolation)-walk|cluster-lease|cluster-killed|cluster-player|vod-fair)\.test\.ts$/;

/** Projects whose files mostly take a second or two, in the order in which they end a run. */
const shortProjects = ['service', 'unit'];

/**
 * Orders test files so that a machine with few cores is busy from the start to the end. Files of all projects whose files share nothing
 * come first and are mixed: some wait for leases or for streams in real time while others encode. Projects whose files share a worker's
 * modules follow one after the other, those with short files last: no core is idle for long at the end.
 */
export class TestSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isShort = ({ moduleId }: TestSpecification) => Number(!longFiles.test(moduleId));
    const byProject = Map.groupBy(
      sorted.toSorted((one, other) => isShort(one) - isShort(other)),
      ({ project }) => project,
    );
    const mixed: { file: TestSpecification; place: number }[] = [];
    const shared: TestSpecification[][] = [];
    for (const [{ config }, ofProject] of byProject) {
      if (!config.isolate) shared.push(ofProject);
      else mixed.push(...ofProject.map((file, index) => ({ file, place: index / ofProject.length })));
    }
    const place = ([file]: TestSpecification[]) => shortProjects.indexOf(file?.project.name ?? '');
    return [
      ...mixed.toSorted((one, other) => one.place - other.place).map(({ file }) => file),
      ...shared.toSorted((one, other) => place(one) - place(other)).flat(),
    ];
  }
}
