import { addCaller } from './caller.ts';
import { addCalls } from './calls.ts';
import { fillExamples } from './own-values.ts';
import { addRunButtons } from './run-examples.ts';

/** Adds what needs a caller to a page that has a place for it: ids in examples, and calls. */
export function addCallerToPage(): void {
  fillExamples(addRunButtons);
  addCalls();
  addCaller();
}
