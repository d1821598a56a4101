/** A pattern for a text in any case: patterns of JSON Schema have no flags. @param text letters, digits and dashes */
export function anyCase(text: string): string {
  return text.replace(/[a-z]/gi, letter => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}
