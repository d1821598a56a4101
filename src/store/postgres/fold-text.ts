/** `fold_text(text)` of PostgreSQL, equal to `foldText`: its regular expressions have no class for marks. */
export function foldTextFunction(): string {
  return `
CREATE FUNCTION fold_text(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $body$
  SELECT lower(regexp_replace(normalize($1, NFKD), '[${markRanges()}]', '', 'g') COLLATE "und-x-icu") COLLATE "C"
$body$;
`;
}

function markRanges(): string {
  const isMark = /\p{Mark}/u;
  const ranges: string[] = [];
  let first: number | undefined;
  for (let code = 0; code <= 0x10_ffff + 1; code += 1) {
    const matches = code <= 0x10_ffff && isMark.test(String.fromCodePoint(code));
    if (matches) first ??= code;
    else if (first !== undefined) {
      ranges.push(first === code - 1 ? escapeOf(first) : `${escapeOf(first)}-${escapeOf(code - 1)}`);
      first = undefined;
    }
  }
  return ranges.join('');
}

function escapeOf(code: number): string {
  return `\\U${code.toString(16).padStart(8, '0')}`;
}
