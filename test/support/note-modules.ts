/**
 * Loaded before a server with `--import`: notes the modules that it loads and the lines that it prints, in their order, in the file
 * that `MILLRACE_TEST_NOTES` names.
 */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const path = process.env.MILLRACE_TEST_NOTES ?? '';
const note = (line: string) => appendFileSync(path, `${line}\n`);

registerHooks({
  load: (url, context, nextLoad) => {
    if (url.startsWith('file:')) note(`load ${url}`);
    return nextLoad(url, context);
  },
});

const { write } = process.stdout;
process.stdout.write = ((text: string, ...rest: never[]) => {
  note(`print ${text.trimEnd()}`);
  return write.call(process.stdout, text, ...rest);
}) as typeof write;
