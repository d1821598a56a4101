import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { nameOfRun, type ReportLine } from './test-report.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Set on each file by `test/support/count-cpu-seconds.ts`. */
    cpuSeconds?: number;
  }
}

/** A reporter for vitest that appends the outcome and the cost of each test file to the file that `MILLRACE_TEST_REPORT` names. */
export default class TestFileReporter implements Reporter {
  #root = process.cwd();
  #startedMs = 0;
  #startedCpuSeconds = 0;

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#startedMs = performance.now();
    this.#startedCpuSeconds = machineCpuSeconds();
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
        cost: {
          project: module.project.name,
          seconds: secondsOf(module),
          cpuSeconds: module.meta().cpuSeconds,
        },
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
      seconds: secondsSince(this.#startedMs),
      machineCpuSeconds: machineCpuSeconds() - this.#startedCpuSeconds,
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

/** Duration of a file from the start of its process to its end, without its wait for a turn. */
function secondsOf(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, setupDuration, collectDuration, duration } =
    module.diagnostic();
  return (environmentSetupDuration + prepareDuration + setupDuration + collectDuration + duration) / 1000;
}

function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000;
}

/** CPU seconds that the machine has worked since it was started. */
function machineCpuSeconds(): number {
  return cpus().reduce((sum, { times }) => sum + (times.user + times.nice + times.sys + times.irq) / 1000, 0);
}
