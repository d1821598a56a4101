/** Compiles the ICU messages of the catalogues, so that pages need no parser. */
import { pathToFileURL } from 'node:url';
import compile from 'icu-minify/compile';

/** A file with the messages of one language. */
export const catalogueFile = /[/\\]web[/\\]i18n[/\\][\w-]+[/\\][a-z]{2}\.ts$/;

/** @returns a module with the compiled messages of a catalogue */
export async function compileCatalogue(path: string): Promise<string> {
  const { default: messages } = (await import(pathToFileURL(path).href)) as {
    default: Readonly<Record<string, string>>;
  };
  const compiled = Object.entries(messages).map(([key, message]) => [key, compile(message)]);
  return `export default ${JSON.stringify(Object.fromEntries(compiled))};`;
}
