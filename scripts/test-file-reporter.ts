import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { nameOfRun, type ReportLine } from './test-report.ts';

/** A reporter for vitest that appends the outcome of each test file to the file that `MILLRACE_TEST_REPORT` names. */
export default class TestFileReporter implements Reporter {
  #root = process.cwd();

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    append({
      type: 'start',
      files: specifications.map(({ moduleId, project }) => nameOfRun(this.#pathOf(moduleId), project.name)),
    });
  }

  onTestModuleEnd(module: TestModule): void {
    const states = Map.groupBy(module.children.allTests(), test => test.result().state);
    const failed = states.get('failed') ?? [];
    const suites = [module, ...module.children.allSuites()];
    const problems = [
      ...failed.map(test => describeFailure(test)),
      ...suites.flatMap(suite => suite.errors().map(({ message }) => message)),
      ...(states.get('pending') ?? []).map(({ fullName }) => `${fullName} did not end`),
    ];
    append({
      type: 'file',
      outcome: {
        file: nameOfRun(this.#pathOf(module.moduleId), module.project.name),
        passed: states.get('passed')?.length ?? 0,
        failed: failed.length,
        skipped: states.get('skipped')?.length ?? 0,
        problems: module.ok() || problems.length > 0 ? problems : ['the file failed'],
      },
    });
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    append({
      type: 'end',
      errors: errors.map(({ message, VITEST_TEST_PATH: path }) => ({
        message,
        ...(typeof path === 'string' ? { file: this.#pathOf(path) } : {}),
      })),
    });
  }

  #pathOf(path: string): string {
    return relative(this.#root, path);
  }
}

function describeFailure(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return error === undefined ? test.fullName : `${test.fullName}: ${error.message}`;
}

function append(line: ReportLine): void {
  appendFileSync(process.env.MILLRACE_TEST_REPORT!, `${JSON.stringify(line)}\n`);
}
