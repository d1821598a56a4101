/** Patterns that no file may contain, and the reason. */
const forbidden: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /(?<![\w.~-])\/(?:work|farm|root|home\/\w+|Users\/\w+)\//, why: 'a path of one machine' },
  { pattern: /\bregistry\.[a-z0-9-]+\.[a-z]{2,}|\bdeb\.debian\.org|\.pkg\.dev\b/i, why: 'a registry host' },
  { pattern: /\b(?:TO[D]O|FIX[M]E|X[X]X)\b/, why: 'unfinished work' },
];

/** Lists lines with forbidden content, as `path:line: problem`. */
export function forbiddenWords(path: string, text: string): string[] {
  const problems: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    for (const { pattern, why } of forbidden) {
      const found = pattern.exec(line);
      if (found !== null) problems.push(`${path}:${index + 1}: holds ${why}: ${found[0]}`);
    }
  }
  return problems;
}
