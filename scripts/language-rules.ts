/** Words that open a subordinate clause: a comment starts with what the code does or is. */
const questionOpening = /^(?:What|How|Where|Whether|Who|Which|Whose)\b/;

/** Words that refer to a noun elsewhere: "Of one packet.", "Those that are left out.", "It may have ended." */
const danglingOpening = /^(?:Of|Than|Such|They|It|Its|Their|Those|That|Also|Likewise|Otherwise)\b/;

/** Pronouns before a verb or preposition; before a noun, as in "Each segment", they are fine. */
const pronounOpening = new RegExp(
  `^(?:This|These|Each|Another|Others?|Some|All|Both|Many|Any|None|Neither|Either)(?=[.,:;]|$| (?:${[
    'is|are|was|were|has|have|had|does|do|did|may|can|could|must|should|will|would|needs?|goes|go|gets?|comes?',
    'that|which|who|of|in|on|at|by|for|from|to|with|without|as',
  ].join('|')})\\b)`,
);

/** Prepositions and conjunctions; good where they introduce a sentence: "In Safari, both tracks end." */
const prepositionOpening = new RegExp(
  `^(?:${[
    'In|On|At|By|For|From|To|With|Without|Within|Into|As|After|Before|Until|Since|During|Once|Per',
    'Between|Behind|Beyond|Besides?|Under|Over|Above|Below|Through|Like|Instead|When|While|If|Unless',
  ].join('|')})\\b(?![^.:;]*, \\S)`,
);

const openings = [questionOpening, danglingOpening, pronounOpening, prepositionOpening];

/** Identifiers of the retired vocabulary, and the field's terms that replace them. */
const retiredNames: readonly (readonly [name: RegExp, replacement: string])[] = [
  [/^(?:most|longest)[A-Z]\w*$|AtMost$|[a-z]Most$|^MOST_/, 'maxX'],
  [/^least[A-Z]\w*$|AtLeast$|^LEAST_/, 'minX'],
  [/outings?$/i, 'RestreamSession'],
  [/^rivers?$|Rivers?$/, 'deliveryKind'],
  [/^Recording(?:Studio|Desk|Book)$/, 'RecordingFactory, RecordingContext, RecordingRepository'],
  [/^\w*Door$|^door$/, 'UpgradeHandler, loopbackServer'],
  [/^(?:is)?[sS]tandIn$/, 'SlateSession, isSlate'],
  [/^[hH]andover$/, 'ReconnectBuffer'],
  [/^Generation$/, 'PackagingSession'],
  [/^[rR]ung(?:s|[A-Z]\w*)?$|Rungs?$/, 'rendition'],
  [/^FollowingSegmenter$/, 'AlignedSegmenter'],
  [/^SegmentShelf$|^KeptTexts$|^BriefMemory$/, 'SegmentStore, PlaylistCache, TtlCache'],
  [/^(?:attendance|places|wishes|orderWishes|tokenChore|company|outward)$/, 'a word of the field'],
  [/^(?:isTorn|isDeaf|beThere|obey|everybodys|carried|apart)$/, 'plain words'],
  [/^(?:keep|hold)Rows$/, 'lockForKeyShare, lockForUpdate'],
  [/^\w+Duty$/, 'leaderLease'],
  [/^GoneNodes$/, 'ExpiredNodes'],
  [/^GeneratedTexts$/, 'CaptionGeneration'],
  [/^isWished$/, 'isSupported'],
  [/^(?:show|make)s?Stills$/, 'fillerSegments or thumbnails'],
  [/^sound(?:s|[A-Z]\w*)?$|Sound$/, 'audio'],
  [/^picture(?:s|[A-Z]\w*)?$|Pictures?$/, 'video, frame, image or thumbnail'],
];

/** Names that the API, stored data, the browser or ffmpeg's messages fix. */
const fixedNames =
  /^(?:longestKeyframeIntervalSeconds|longestSegmentSeconds|longest_gop_ms|Picture)$|[pP]ictureInPicture/;

/** Strings, template literals and comments, in the order in which they begin. */
const token =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g;

/** Lists comments that open without a noun or verb of their own, as `path:line: problem`. */
export function commentProblems(path: string, text: string): string[] {
  const problems: string[] = [];
  let lastLineComment = -1;
  for (const { 0: comment, index } of text.matchAll(token)) {
    if (!comment.startsWith('/')) continue;
    const line = lineAt(text, index);
    const isContinued = comment.startsWith('//') && lastLineComment === line - 1;
    if (comment.startsWith('//')) lastLineComment = line;
    if (isContinued) continue;
    const opening = openingOf(comment.startsWith('//') ? lineComments(text.slice(index)) : comment);
    if (opening !== undefined) problems.push(`${path}:${line}: a comment opens with "${opening}"`);
  }
  return problems;
}

/** Returns the line comments that continue each other at the start of a text. */
function lineComments(text: string): string {
  return /^(?:\/\/[^\n]*(?:\n\s*)?)+/.exec(text)![0];
}

function openingOf(comment: string): string | undefined {
  const body = comment.replaceAll(/^\s*(?:\/\/|\/?\*+)\/?/gm, '').replaceAll(/\s+/g, ' ');
  return openings.map(opening => opening.exec(body.trimStart())?.[0]).find(found => found !== undefined);
}

/** Lists identifiers of the retired vocabulary outside of strings and comments, as `path:line: problem`. */
export function nameProblems(path: string, text: string): string[] {
  const code = text.replace(token, match => match.replace(/[^\n]/g, ' '));
  const problems = new Set<string>();
  for (const { 0: name, index } of code.matchAll(/[A-Za-z_]\w*/g)) {
    if (fixedNames.test(name)) continue;
    const retired = retiredNames.find(([pattern]) => pattern.test(name));
    if (retired !== undefined)
      problems.add(`${path}:${lineAt(text, index)}: ${name}, which is now ${retired[1]}`);
  }
  return [...problems];
}

/** Lists spreads of object literals, whose properties could be written out, as `path:line: problem`. */
export function spreadProblems(path: string, text: string): string[] {
  const code = text.replace(token, match => match.replace(/[^\n]/g, ' '));
  return [...code.matchAll(/\.\.\.\s*\{/g)]
    .filter(({ 0: opening, index }) => code[closingBrace(code, index + opening.length)] !== '[')
    .map(({ index }) => `${path}:${lineAt(text, index)}: an object literal is spread`);
}

/** Returns the position after the brace that closes the one before `start`. */
function closingBrace(code: string, start: number): number {
  let depth = 1;
  let at = start;
  for (; depth > 0 && at < code.length; at += 1) {
    if (code[at] === '{') depth += 1;
    if (code[at] === '}') depth -= 1;
  }
  return at;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
