import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Short files that take a minute or more. Vitest begins with the largest ones: these would be alone at the end. */
const longFiles =
  /\/(idle-memory|api-isolation-walk|cluster-lease|cluster-killed|cluster-player|vod-fair)\.test\.ts$/;

/**
 * Orders test files so that a machine with few cores is busy from the start to the end. Files of all projects whose files share nothing
 * come first and are mixed: some wait for leases or for streams in real time while others encode. Projects whose files share a worker's
 * modules follow one after the other. The unit tests are last, since they are short.
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
    const isUnit = ([file]: TestSpecification[]) => Number(file?.project.name === 'unit');
    return [
      ...mixed.toSorted((one, other) => one.place - other.place).map(({ file }) => file),
      ...shared.toSorted((one, other) => isUnit(one) - isUnit(other)).flat(),
    ];
  }
}
