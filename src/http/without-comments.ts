/**
 * What has to be told apart in JavaScript to know which lines are comments: these lines themselves (with nothing on them, or one doc or
 * line comment), other comments, strings, regular expressions (after what no division follows), and what begins or ends templates.
 */
const part =
  /(?<line>^[ \t]*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)?[ \t]*\n)|\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*"|(?<=[(,=:[!&|?{;>]\s*|\breturn\s+)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^\\/\n[])+\/|[`{}]/gm;
/** Text of a template up to its end, or to an expression in it. */
const templateText = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(`|\$\{)/y;

/** Leaves out comments and blank lines, a third of what would be sent. Only whole lines go, and nothing within the text of a template. */
export function withoutComments(script: string): string {
  const kept: string[] = [];
  /** Braces that were open where each expression of a template began. */
  const expressions: number[] = [];
  let braces = 0;
  let from = 0;
  let at = 0;
  const passTemplateText = () => {
    templateText.lastIndex = at;
    const found = templateText.exec(script);
    at = found === null ? script.length : templateText.lastIndex;
    if (found?.[1] === '${') expressions.push(braces);
  };
  for (;;) {
    part.lastIndex = at;
    const found = part.exec(script);
    if (found === null) break;
    at = part.lastIndex;
    const [text] = found;
    if (found.groups?.line !== undefined) {
      kept.push(script.slice(from, found.index));
      from = at;
    } else if (text === '`') passTemplateText();
    else if (text === '{') braces += 1;
    else if (text === '}' && expressions.at(-1) === braces) {
      expressions.pop();
      passTemplateText();
    } else if (text === '}') braces -= 1;
  }
  kept.push(script.slice(from));
  return kept.join('');
}
