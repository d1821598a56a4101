/**
 * Exported names without a doc comment that says something, as `path:line: name ...`.
 *
 * Reads the text as Biome formats it: an export starts its line, and its comment ends on the line before.
 * What is only passed on (`export { name } from`) is documented where it is written.
 */
export function undocumentedExports(path: string, text: string): string[] {
  const problems: string[] = [];
  const lines = text.split('\n');
  let lastName = '';
  for (const [index, line] of lines.entries()) {
    const name = exportedName(line);
    if (name === undefined) continue;
    // Further overloads of a function belong to the first one.
    const isOverload = name === lastName;
    lastName = name;
    if (isOverload) continue;
    const comment = commentAbove(lines, index);
    if (comment === undefined) problems.push(`${path}:${index + 1}: ${name} has no doc comment`);
    else if (wordsOf(comment) < leastWords) {
      problems.push(`${path}:${index + 1}: the doc comment of ${name} does not say what it is for`);
    }
  }
  return problems;
}

/** Fewer words than this can only repeat the name. */
const leastWords = 3;

function exportedName(line: string): string | undefined {
  const declared =
    /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type) (\w+)/.exec(
      line,
    );
  if (declared !== null) return declared[1];
  return line.startsWith('export default ') ? 'default' : undefined;
}

function commentAbove(lines: readonly string[], index: number): string | undefined {
  if (!lines[index - 1]?.trimEnd().endsWith('*/')) return undefined;
  let first = index - 1;
  while (first > 0 && !/^\s*\/\*/.test(lines[first]!)) first -= 1;
  const comment = lines.slice(first, index).join('\n');
  return comment.startsWith('/**') ? comment : undefined;
}

function wordsOf(comment: string): number {
  const prose = comment.replace(/^\s*(?:\/\*\*|\*\/|\*)|\*\/$/gm, '').split(/^\s*@\w/m)[0]!;
  return prose.split(/\s+/).filter(word => /\w/.test(word)).length;
}
